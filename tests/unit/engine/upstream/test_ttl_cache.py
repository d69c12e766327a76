"""Answers that are asked for again only after some time."""

from __future__ import annotations

import pytest

from engine.upstream.ttl_cache import TTLCache


class _Server:
    """A clock, and answers that count how often they were asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0

    async def ask(self) -> int:
        self.asked += 1
        return self.asked

    async def ask_slowly(self) -> int:
        self.now += 6.0
        return await self.ask()

    async def fail(self) -> int:
        raise OSError


@pytest.fixture
def server() -> _Server:
    return _Server()


@pytest.fixture
def remembered(server: _Server) -> TTLCache[str, int]:
    return TTLCache(10.0, lambda: server.now)


async def test_an_answer_is_asked_for_once_until_it_expires(
    server: _Server, remembered: TTLCache[str, int]
) -> None:
    assert await remembered.get("a", server.ask) == 1
    server.now = 9.9
    assert await remembered.get("a", server.ask) == 1
    assert await remembered.get("b", server.ask) == 2
    server.now = 10.0
    assert await remembered.get("a", server.ask) == 3
    assert await remembered.get("b", server.ask) == 2


async def test_its_age_counts_from_the_asking(server: _Server, remembered: TTLCache[str, int]) -> None:
    await remembered.get("a", server.ask_slowly)
    server.now = 10.0
    assert await remembered.get("a", server.ask) == 2


async def test_failures_and_what_is_forgotten_are_asked_for_again(
    server: _Server, remembered: TTLCache[str, int]
) -> None:
    with pytest.raises(OSError, match=r"^$"):
        await remembered.get("a", server.fail)
    assert await remembered.get("a", server.ask) == 1
    remembered.forget("a")
    remembered.forget("never kept")
    assert await remembered.get("a", server.ask) == 2
