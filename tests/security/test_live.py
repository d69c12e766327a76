"""From psql's side of the gateway: a question and a choice never run planted code with anybody else's rights."""

from __future__ import annotations

import asyncio
from contextlib import closing

import psycopg
import pytest

from tests.security.arena import ATTACKER, SECRET, VICTIM, Arena
from tests.security.attacks import Attack
from tests.security.live import Live
from tests.security.servers import NEWEST

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.parametrize("server", NEWEST, indirect=True),
]

MOODS = """
CREATE TYPE a.mood AS ENUM ('sad', 'ok');
CREATE TABLE a.moods (id int, c a.mood); INSERT INTO a.moods VALUES (1, 'ok'), (2, 'sad');
CREATE FUNCTION a.mood_text(a.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM a.spy(); RETURN 'x'; END $$;
CREATE CAST (a.mood AS text) WITH FUNCTION a.mood_text(a.mood);
"""

TRAPS = {
    "when it runs": Attack(
        "cast of an enum", MOODS, ("SELECT c::text FROM a.moods", "SELECT c::text FROM a.moods WHERE id = 1")
    ),
    "when it is planned": Attack(
        "domain in an array literal",
        """CREATE DOMAIN a.word AS text CHECK (a.spy_text(VALUE) <> 'never');
           CREATE TABLE a.moods (id int, c a.word[]); INSERT INTO a.moods VALUES (1, '{x}'), (2, '{y}');""",
        ("SELECT coalesce(c, '{boom}') FROM a.moods", "SELECT id FROM a.moods WHERE c = '{boom}'"),
    ),
}
"""Two statements each: what several candidates answer is compared before one is chosen."""

HONEST = Attack(
    "nothing",
    "CREATE TABLE a.moods (id int, c text); INSERT INTO a.moods VALUES (1, 'cheerful');",
    ("SELECT c FROM a.moods",),
)


def _asked(live: Live, role: str, dbname: str, about: str) -> str:
    """All that a client gets to see of a question and of the choice from its answer."""
    told = []
    with closing(psycopg.connect(live.uri(role, dbname), autocommit=True)) as connection:
        # No other test's question: the answer to that one would be known.
        for statement in (f"NL (db arena): $$c of all moods {about} in {dbname}$$", "NL CHOOSE 1"):
            try:
                told.append(repr(connection.execute(statement).fetchall()))
            except psycopg.Error as error:
                told.append(str(error))
    return "\n".join(told)


@pytest.mark.parametrize("dbname", ["arena", "postgres"], ids=["own database", "another database"])
@pytest.mark.parametrize("role", [ATTACKER, VICTIM])
@pytest.mark.parametrize("trap", TRAPS)
async def test_a_question_about_a_trap(arena: Arena, live: Live, trap: str, role: str, dbname: str) -> None:
    await arena.plant(TRAPS[trap])
    await asyncio.to_thread(live.refreshed)
    live.script.statements = TRAPS[trap].statements
    told = _asked(live, role, dbname, trap)
    assert role == VICTIM or SECRET not in told
    seen = arena.log.sightings()
    if role == VICTIM:
        assert not seen, told
    assert all(sighting.harmless_for(ATTACKER) for sighting in seen), told


@pytest.mark.parametrize("dbname", ["arena", "postgres"], ids=["own database", "another database"])
async def test_a_question_without_one_is_answered(arena: Arena, live: Live, dbname: str) -> None:
    await arena.plant(HONEST)
    await asyncio.to_thread(live.refreshed)
    live.script.statements = HONEST.statements
    assert "cheerful" in _asked(live, ATTACKER, dbname, "that are there")
