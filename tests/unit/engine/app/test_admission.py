"""Places are given in turn, role by role; who cannot have one in time is told so at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from engine.app.admission import ASSUMED_SECONDS, Admission
from engine.values.errors import BusyError


class Asked:
    """Questions that hold their place until they are told to end; `begun`: in which order they got one."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
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
        async with self._admission.place(role, 1000.0):
            self.begun.append(name)
            await self.ends[name].wait()


async def test_who_asks_much_keeps_nobody_waiting_for_more_than_one_question() -> None:
    admission = Admission(places=1, waiting=10)
    asked = Asked(admission)
    for name in ("a1", "a2", "a3", "b1"):
        await asked.ask(name, name[0])
    assert (admission.running, admission.waiting) == (1, 3)
    for name in ("a1", "a2", "b1", "a3"):
        await asked.end(name)
    assert asked.begun == ["a1", "a2", "b1", "a3"]
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_full_queue_refuses_with_when_to_come_back() -> None:
    admission = Admission(places=1, waiting=1)
    asked = Asked(admission)
    await asked.ask("a", "ana")
    await asked.ask("b", "ben")
    with pytest.raises(BusyError) as refused:
        async with admission.place("cyn", 1000.0):
            raise AssertionError("there is no place")
    assert refused.value.sqlstate == "53400"
    assert f"about {2 * ASSUMED_SECONDS:.0f} seconds" in str(refused.value.hint)
    assert refused.value.detail == "The engine answers 1 at a time, and 1 wait."


async def test_where_the_queue_is_full_who_waits_most_makes_room() -> None:
    admission = Admission(places=1, waiting=3)
    asked = Asked(admission)
    waiting = {name: await asked.ask(name, name[0]) for name in ("a1", "a2", "a3", "a4", "b1")}
    await asyncio.sleep(0)
    assert isinstance(waiting["a4"].exception(), BusyError)
    # Now both would have as many: the newcomer goes.
    refused = await asked.ask("b2", "b")
    await asyncio.sleep(0)
    assert isinstance(refused.exception(), BusyError)
    for name in ("a1", "a2", "b1", "a3"):
        await asked.end(name)
    assert asked.begun == ["a1", "a2", "b1", "a3"]
    assert (admission.running, admission.waiting) == (0, 0)


async def test_what_was_answered_says_how_long_the_wait_is() -> None:
    admission = Admission(places=1, waiting=10)
    asked = Asked(admission)
    await asked.ask("a", "ana")
    await asked.end("a")
    await asked.ask("b", "ben")
    task = asyncio.create_task(_enters(admission, ASSUMED_SECONDS / 2))
    await asyncio.sleep(0)
    assert admission.waiting == 1
    await asked.end("b")
    await task


async def _enters(admission: Admission, seconds: float) -> None:
    async with admission.place("cyn", seconds):
        pass


async def test_nobody_waits_whose_time_would_be_over() -> None:
    admission = Admission(places=1, waiting=10)
    await Asked(admission).ask("a", "ana")
    with pytest.raises(BusyError):
        async with admission.place("ben", ASSUMED_SECONDS / 2):
            raise AssertionError("its time is over before its turn")
    assert admission.waiting == 0


async def test_nobody_waits_longer_than_their_time() -> None:
    admission = Admission(places=1, waiting=10)
    asked = Asked(admission)
    await asked.ask("a", "ana")
    await asked.end("a")
    await asked.ask("b", "ben")
    with pytest.raises(BusyError):
        await _enters(admission, 0.01)
    assert (admission.running, admission.waiting) == (1, 0)


@pytest.mark.parametrize("moment", ["while it waits", "as it is given a place"])
async def test_a_cancelled_question_gives_its_turn_to_the_next(moment: str) -> None:
    admission = Admission(places=1, waiting=10)
    asked = Asked(admission)
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
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_question_that_fails_gives_its_place_back() -> None:
    admission = Admission(places=1, waiting=0)
    with pytest.raises(ZeroDivisionError):
        async with admission.place("ana", 1.0):
            raise ZeroDivisionError
    async with admission.place("ana", 1.0):
        assert admission.running == 1
