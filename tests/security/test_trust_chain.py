"""Trust is a chain: what lies in somebody's schema, or belongs to somebody's extension, is theirs to replace.

Each attack has an honest moment, in which the victim asks, and a moment after it, in which role_a plants.
"""

from __future__ import annotations

import asyncio
from contextlib import closing

import psycopg
import pytest

from engine.settings import GuardSettings
from tests.security.arena import ATTACKER, VICTIM, Arena
from tests.security.attacks.chains import CHAINS, Chain
from tests.security.engine_door import opened
from tests.security.live import Live
from tests.security.servers import VERSIONS, marks

on_each_chain = pytest.mark.parametrize(
    ("server", "chain"),
    [
        pytest.param(version, chain, id=f"{version}-{chain.name}", marks=marks(version))
        for version in VERSIONS
        for chain in CHAINS
    ],
    indirect=["server"],
)


async def _played(arena: Arena, scripts: tuple[tuple[str, str], ...]) -> None:
    for role, script in scripts:
        await arena.as_role(role, script)
    arena.log.sightings()


@on_each_chain
async def test_the_attack_is_real(arena: Arena, chain: Chain) -> None:
    await _played(arena, (*chain.before, *chain.after))
    await arena.typed(VICTIM, f"SET search_path = a, public; {chain.statement}")
    assert arena.log.sightings()


@on_each_chain
async def test_planted_after_an_honest_question_it_runs_for_nobody_else(arena: Arena, chain: Chain) -> None:
    await _played(arena, chain.before)
    async with opened(arena, guard=GuardSettings(functions=chain.allowed)) as door:
        for role in (ATTACKER, VICTIM):
            # The attacker asks the same of a table of its own.
            own = chain.statement.replace("b.words", "a.words") if role == ATTACKER else chain.statement
            await door.run(role, own)
        # What is role_a's own runs for role_a.
        assert all(sighting.harmless_for(ATTACKER) for sighting in arena.log.sightings())
        await _played(arena, chain.after)
        told = await door.all_of_it(VICTIM, chain.statement)
        assert not arena.log.sightings(), told


@pytest.mark.parametrize(
    "server", [pytest.param(each, marks=marks(each)) for each in VERSIONS], indirect=True
)
async def test_an_extension_in_somebodys_schema_changes_nothing_for_others(arena: Arena) -> None:
    await arena.as_role(ATTACKER, "CREATE EXTENSION ltree SCHEMA a; CREATE EXTENSION citext SCHEMA a")
    await arena.as_role(VICTIM, "CREATE TABLE b.people (name text); INSERT INTO b.people VALUES ('Ada')")
    async with opened(arena) as door:
        for sql in (
            "SELECT name || 'x' FROM b.people",
            "SELECT 'x' || name FROM b.people WHERE lower(name) = 'ada'",
        ):
            assert "Ada" in (told := await door.run(VICTIM, sql)), told


@pytest.mark.timeout(300)
@pytest.mark.parametrize("server", [VERSIONS[0], VERSIONS[-1]], indirect=True)
@pytest.mark.parametrize("way", ["choose", "run", "prepared"])
@pytest.mark.parametrize("chain", [CHAINS[0], CHAINS[-1]], ids=lambda chain: chain.name)
async def test_in_place_what_was_planted_after_the_question_does_not_run(
    arena: Arena, live: Live, chain: Chain, way: str
) -> None:
    await _played(arena, chain.before)
    await asyncio.to_thread(live.refreshed)
    live.script.statements = (chain.statement,)
    question = f"NL (db arena): $$how far is {chain.name} by {way}$$"
    last = "NL CHOOSE 1" if way == "choose" else "SELECT * FROM nl.run(1)"

    def says(connection: psycopg.Connection, *statements: str) -> list[str]:
        return [_outcome(connection, each, prepared=way == "prepared") for each in statements]

    with closing(psycopg.connect(live.uri(VICTIM), autocommit=True)) as connection:
        told = await asyncio.to_thread(says, connection, question, "SELECT * FROM nl.run(1)")
        await _played(arena, chain.after)
        told += await asyncio.to_thread(says, connection, last)
    assert not arena.log.sightings(), told


def _outcome(connection: psycopg.Connection, statement: str, *, prepared: bool) -> str:
    try:
        return repr(connection.execute(statement, prepare=prepared).fetchall())
    except psycopg.Error as error:
        return str(error)
