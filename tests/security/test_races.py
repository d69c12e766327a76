"""A trap that is set between the engine's look at a statement and PostgreSQL's does not go off with other rights."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from tests.security.arena import ATTACKER, SECRET, VICTIM, Arena
from tests.security.attacks import Attack
from tests.security.engine_door import Door
from tests.security.races import RACES, Race
from tests.security.servers import NEWEST

CALLS = [150, pytest.param(1_000, marks=pytest.mark.slow)]


@asynccontextmanager
async def flipping(arena: Arena, race: Race) -> AsyncIterator[list[int]]:
    """Sets and removes the trap as fast as the server does it; yields the number of times, in a list."""
    connection = await asyncpg.connect(arena.dsn(ATTACKER))
    flips = [0]

    async def flip() -> None:
        while True:
            await connection.execute(race.trap)
            await connection.execute(race.harmless)
            flips[0] += 1

    task = asyncio.create_task(flip(), name="flipping")
    try:
        yield flips
        # What stopped the attacker would have stopped the test from testing anything.
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        connection.terminate()


@pytest.mark.parametrize("server", NEWEST, indirect=True)
@pytest.mark.parametrize("race", RACES, ids=lambda race: race.name)
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.timeout(300)
async def test_no_moment_is_good_for_a_trap(arena: Arena, door: Door, race: Race, calls: int) -> None:
    await arena.plant(Attack(race.name, race.plant, ()))
    await arena.as_role(ATTACKER, race.trap)
    await arena.typed(ATTACKER, "SET search_path = public; " + race.statement)
    assert arena.log.sightings(), "the trap does not work"
    await arena.as_role(ATTACKER, race.harmless)
    async with flipping(arena, race) as flips:
        for _ in range(calls // 2):
            await door.explain(VICTIM, race.statement)
        for number in range(calls // 2):
            ask = door.run if number % 2 else door.explain
            assert SECRET not in await ask(ATTACKER, race.statement)
        # Setting some of the traps runs them, with role_a's rights.
        assert not [sighting for sighting in arena.log.sightings() if not sighting.harmless_for(ATTACKER)]
        assert flips[0] > calls // 20
