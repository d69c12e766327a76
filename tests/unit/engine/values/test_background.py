"""A store that is away is told of once, tried again less and less often, and told of when it is back."""

from __future__ import annotations

import asyncio

import pytest
import structlog

from engine.values.background import LONGEST_PAUSE, Background, all_of


def test_one_line_when_it_goes_and_one_when_it_is_back() -> None:
    now = [0.0]
    background = Background(lambda: now[0])
    pauses = []
    with structlog.testing.capture_logs() as lines:
        background.worked("definitions")
        for _ in range(20):
            for task in ("definitions", "schemas"):
                background.failed(task, ConnectionRefusedError(111, "refused"))
                pauses.append(background.pause(task, 1.0))
            now[0] += LONGEST_PAUSE
        background.worked("definitions")
        assert background.pause("definitions", 1.0) == 1.0
        background.worked("schemas")
        background.worked("schemas")
    assert [line["event"] for line in lines] == ["background task failed", "background tasks work again"]
    assert lines[1]["seconds"] == 600
    assert pauses[::2][:6] == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_another_fault_is_told_and_a_slow_task_stays_slow() -> None:
    background = Background()
    with structlog.testing.capture_logs() as lines:
        for problem in (ConnectionRefusedError(111, "refused"), KeyError("x"), KeyError("x")):
            background.failed("retention", problem)
    assert [line["problem"] for line in lines] == ["ConnectionRefusedError [Errno 111] refused", "KeyError"]
    assert background.pause("retention", 60.0) == 60.0


async def test_what_is_done_at_once_ends_with_its_first_error() -> None:
    ended = list[str]()

    async def waiting(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async def failing() -> None:
        await asyncio.sleep(0)
        raise LookupError("no such thing")

    with pytest.raises(LookupError):
        await all_of([waiting("one"), failing(), waiting("other")])
    assert sorted(ended) == ["one", "other"]


async def test_what_is_done_at_once_is_given_in_order() -> None:
    async def after(turns: int) -> int:
        for _ in range(turns):
            await asyncio.sleep(0)
        return turns

    assert await all_of(map(after, (3, 1, 2))) == [3, 1, 2]
