"""Trust is a chain: what lies in somebody's schema, or belongs to somebody's extension, is theirs to replace.

Each attack has an honest moment, in which the victim asks, and a moment after it, in which role_a plants.
"""

from __future__ import annotations

import ast
import asyncio
from contextlib import closing

import psycopg
import pytest

from engine.values.settings import GuardSettings
from tests.security.arena import ATTACKER, VICTIM, Arena
from tests.security.attacks.chains import CHAINS, HONEST, OPENED, Chain
from tests.security.engine_door import opened
from tests.security.live import Live
from tests.security.servers import NEWEST, VERSIONS, marks


async def _played(arena: Arena, scripts: tuple[tuple[str, str], ...]) -> None:
    for role, script in scripts:
        await arena.as_role(role, script)
    arena.log.sightings()


@pytest.mark.parametrize(
    ("server", "chain"),
    [
        pytest.param(version, chain, id=f"{version}-{chain.name}", marks=marks(version))
        for version in VERSIONS
        for chain in CHAINS
    ],
    indirect=["server"],
)
async def test_planted_after_an_honest_question_it_runs_for_nobody_else(arena: Arena, chain: Chain) -> None:
    await _played(arena, chain.before)
    async with opened(arena, guard=GuardSettings(functions=chain.allowed)) as door:
        told = ""
        for role in (ATTACKER, VICTIM):
            # The attacker asks the same of a table of its own.
            own = chain.statement.replace("b.words", "a.words") if role == ATTACKER else chain.statement
            told = await door.run(role, own)
        assert ("Result(" in told) == (chain in HONEST), told
        # What is role_a's own runs for role_a.
        assert all(sighting.harmless_for(ATTACKER) for sighting in arena.log.sightings())
        await _played(arena, chain.after)
        told = await door.all_of_it(VICTIM, chain.statement)
        assert not arena.log.sightings(), told
        # With nothing planted since, the honest rows stay; else there are none.
        assert ("Result(" in told) == (not chain.after), told
    await arena.typed(VICTIM, f"SET search_path = a, public; {chain.statement}")
    assert arena.log.sightings(), "the attack is none"


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
@pytest.mark.parametrize("server", NEWEST, indirect=True)
@pytest.mark.parametrize("way", ["choose", "run", "prepared"])
async def test_in_place_what_was_planted_after_the_question_does_not_run(
    arena: Arena, live: Live, way: str
) -> None:
    await _played(arena, OPENED.before)
    await asyncio.to_thread(live.refreshed)
    live.script.statements = (OPENED.statement,)

    with closing(psycopg.connect(live.uri(VICTIM), autocommit=True)) as connection:

        def told(text: str) -> str:
            # What is prepared before is bound again: the very statement that the engine looked at.
            return _outcome(connection, text, prepared=way == "prepared")

        asked = await asyncio.to_thread(told, f"NL (db arena): $$how far by {way}$$")
        assert "levenshtein" in asked
        statement = "NL CHOOSE 1"
        if way != "choose":
            statement = f"SELECT * FROM nl.run('{ast.literal_eval(asked)[0][-1]}', 1) AS t"
        for _ in range(2):
            assert await asyncio.to_thread(told, statement) == "[(3,)]"
        await _played(arena, OPENED.after)
        after = await asyncio.to_thread(told, statement)
    assert not arena.log.sightings(), after
    assert after.startswith("NL005"), after


def _outcome(connection: psycopg.Connection, statement: str, *, prepared: bool) -> str:
    """The rows, or the error with its SQLSTATE first."""
    try:
        return repr(connection.execute(statement, prepare=prepared).fetchall())
    except psycopg.Error as error:
        return f"{error.sqlstate} {error}"
