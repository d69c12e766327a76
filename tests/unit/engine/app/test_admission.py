"""Places are given in turn, role by role; who cannot have one in time is told so at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from engine.app import admission
from engine.app.admission import ASSUMED_SECONDS, Admission
from engine.values.errors import BusyError
from engine.values.queue_place import teller


class Asked:
    """Questions that hold their place until they are told to end; `begun`: in which order they got one."""

    def __init__(self, places: Admission) -> None:
        self._places = places
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}

    async def ask(self, name: str, role: str) -> asyncio.Task[None]:
        self.ends[name] = asyncio.Event()
        task = asyncio.create_task(self._hold(name, role))
        await asyncio.sleep(0)
        return task

    async def end(self, name: str) -> None:
        self.ends[name].set()
        for _ in range(3):
            await asyncio.sleep(0)

    async def _hold(self, name: str, role: str) -> None:
        async with self._places.place(role, 1000.0):
            self.begun.append(name)
            await self.ends[name].wait()


async def test_who_asks_much_keeps_nobody_waiting_for_more_than_one_question() -> None:
    places = Admission(places=1)
    asked = Asked(places)
    for name in ("a1", "a2", "a3", "b1"):
        await asked.ask(name, name[0])
    assert (places.running, places.waiting) == (1, 3)
    for name in ("a1", "a2", "b1", "a3"):
        await asked.end(name)
    assert asked.begun == ["a1", "a2", "b1", "a3"]
    assert (places.running, places.waiting) == (0, 0)


async def test_who_waits_is_told_each_new_place_and_that_the_turn_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "TOLD_AFTER", 0.0)
    places = Admission(places=1)
    asked = Asked(places)
    for name in ("a1", "a2", "a3", "b1"):
        await asked.ask(name, name[0])
    told: asyncio.Queue[int | None] = asyncio.Queue()
    teller.set(told.put)
    # Its round has a question of each of three roles, and the one that goes on has another before that.
    last = asyncio.create_task(_enters(places, 1000.0))
    assert await told.get() == 2
    await asked.end("a1")
    assert await told.get() == 1
    await asked.end("a2")
    assert await told.get() == 0
    await asked.end("b1")
    assert await told.get() is None
    await last
    # Who gets a place at once is told nothing.
    await asked.end("a3")
    await _enters(places, 1000.0)
    assert told.empty()


async def test_a_question_whose_place_cannot_be_told_waits_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "TOLD_AFTER", 0.0)
    places = Admission(places=1)
    asked = Asked(places)
    await asked.ask("a", "ana")

    async def gone(_: int | None) -> None:
        raise ConnectionResetError

    teller.set(gone)
    with pytest.raises(ConnectionResetError):
        await _enters(places, 1000.0)
    assert (places.running, places.waiting) == (1, 0)


async def test_what_was_answered_says_how_long_the_wait_is() -> None:
    places = Admission(places=1)
    asked = Asked(places)
    await asked.ask("a", "ana")
    await asked.end("a")
    await asked.ask("b", "ben")
    task = asyncio.create_task(_enters(places, ASSUMED_SECONDS / 2))
    await asyncio.sleep(0)
    assert places.waiting == 1
    await asked.end("b")
    await task


async def _enters(places: Admission, seconds: float) -> None:
    async with places.place("cyn", seconds):
        pass


async def test_nobody_waits_whose_time_would_be_over() -> None:
    places = Admission(places=1)
    await Asked(places).ask("a", "ana")
    with pytest.raises(BusyError) as refused:
        async with places.place("ben", ASSUMED_SECONDS / 2):
            raise AssertionError("its time is over before its turn")
    assert places.waiting == 0
    assert refused.value.sqlstate == "53000"
    assert str(refused.value.detail).startswith("The engine answers 1 at a time, and 0 wait;")
    assert f"in about {ASSUMED_SECONDS:.0f} seconds" in str(refused.value.detail)


async def test_nobody_waits_longer_than_their_time() -> None:
    places = Admission(places=1)
    asked = Asked(places)
    await asked.ask("a", "ana")
    await asked.end("a")
    await asked.ask("b", "ben")
    with pytest.raises(BusyError):
        await _enters(places, 0.01)
    assert (places.running, places.waiting) == (1, 0)


@pytest.mark.parametrize("moment", ["while it waits", "as it is given a place"])
async def test_a_cancelled_question_gives_its_turn_to_the_next(moment: str) -> None:
    places = Admission(places=1)
    asked = Asked(places)
    await asked.ask("a", "ana")
    cancelled = await asked.ask("b", "ben")
    await asked.ask("c", "cyn")
    if moment == "as it is given a place":
        asked.ends["a"].set()
        await asyncio.sleep(0)
    cancelled.cancel()
    await asked.end("a")
    with suppress(asyncio.CancelledError):
        await cancelled
    assert asked.begun == ["a", "c"]
    await asked.end("c")
    assert (places.running, places.waiting) == (0, 0)


async def test_a_question_that_fails_gives_its_place_back() -> None:
    places = Admission(places=1)
    with pytest.raises(ZeroDivisionError):
        async with places.place("ana", 1.0):
            raise ZeroDivisionError
    async with places.place("ana", 1.0):
        assert places.running == 1
