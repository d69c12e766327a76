"""In place, in the frame, prepared, composed: nothing that an untrusted owner left behind runs for anybody else.

Each session has the worst search path that a role can have: the leftovers' schema before PostgreSQL's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.security.arena import ATTACKER, PLANTED, VICTIM, Arena
from tests.security.attacks import Attack
from tests.security.leftovers import HOUSE, LEFTOVERS, NO_MORE, Leftover, left, some
from tests.security.live import Live
from tests.security.races import Race
from tests.security.servers import NEWEST, VERSIONS, marks
from tests.security.test_races import CALLS, flipping

pytestmark = pytest.mark.timeout(600)
on_the_newest = pytest.mark.parametrize("server", NEWEST, indirect=True)

WORST = "-c search_path=public,pg_catalog"
REFUSED = {
    "SELECT nullif(nick, nick) FROM clients": VERSIONS[-1],
    "SELECT id FROM clients WHERE nick IS DISTINCT FROM nick": VERSIONS[-1],
    "SELECT id FROM clients WHERE nick IN (SELECT nick FROM visits)": 16,
}
"""What may not run along such a path, and the last version where: its operator cannot be named without another type,
not at all, or the server does not show it.
"""

EXAMPLES = 25


@contextmanager
def session(live: Live, options: str = WORST) -> Iterator[psycopg.Connection[Any]]:
    """The victim's, through the gateway."""
    with closing(psycopg.connect(live.uri(VICTIM), autocommit=True, options=options)) as connection:
        yield connection


def asked(connection: psycopg.Connection[Any], live: Live, statement: str) -> tuple[str, int]:
    """The qid of an answer, and the number of its row that holds `statement`, put there by the asker."""
    live.script.statements = ("SELECT id FROM clients",)
    row = connection.execute("NL (db arena): $$ids of all clients$$").fetchone()
    assert row is not None
    corrected = connection.execute(f"NL CORRECT $q${statement}$q$ OF '{row[-1]}'").fetchone()
    assert corrected is not None
    return str(row[-1]), int(corrected[0])


def every_way(connection: psycopg.Connection[Any], live: Live, statement: str) -> list[str]:
    """All that comes back of a statement, however it is run."""
    qid, n = asked(connection, live, statement)
    live.script.statements = (statement,)
    choose = f"NL CHOOSE {n} OF '{qid}'"
    composed = f"SELECT * FROM nl.run('{qid}', {n}) AS t"
    ways = [
        (choose, False),
        (f"NL PLAN {n} OF '{qid}'", False),
        (composed, False),
        (choose, True),
        (choose, True),
    ]
    ways += [("NL (db arena): $$that once more$$", False)]
    return [repr(connection.execute(sql, prepare=prepare).fetchall()) for sql, prepare in ways]


def runs(connection: psycopg.Connection[Any], live: Live, statement: str) -> bool:
    """Runs a statement every way; whether it may, along the session's path."""
    try:
        every_way(connection, live, statement)
    except psycopg.DatabaseError as refused:
        if str(refused).startswith("the correction is refused"):
            return False
        raise
    return True


async def furnish(arena: Arena, live: Live, leftovers: tuple[Leftover, ...]) -> None:
    """The house with the leftovers in it, and nobody untrusted who may still create there."""
    await arena.admin.execute(HOUSE)
    if leftovers:
        await arena.as_role(ATTACKER, left("public", leftovers))
    await arena.admin.execute(NO_MORE)
    await asyncio.to_thread(live.refreshed)
    arena.log.sightings()


@pytest.mark.parametrize(
    ("server", "leftover"),
    [
        pytest.param(version, leftover, id=f"{version}-{leftover.name}", marks=marks(version, *also))
        for leftover in LEFTOVERS
        # What may run of it depends on the version where some is refused; of the rest in `make test-all`.
        for also in [VERSIONS[:1] if REFUSED.keys() & {*leftover.statements} else VERSIONS[-1:]]
        for version in (VERSIONS[0], VERSIONS[-1])
    ],
    indirect=["server"],
)
async def test_what_was_left_behind_runs_for_nobody(arena: Arena, live: Live, leftover: Leftover) -> None:
    await furnish(arena, live, (leftover,))
    with session(live) as victim:
        for statement in leftover.statements:
            await arena.typed(VICTIM, f"SET search_path = public, pg_catalog; {statement}")
            assert arena.log.sightings(), statement
            ran = await asyncio.to_thread(runs, victim, live, statement)
            assert not arena.log.sightings(), statement
            assert ran is (arena.server.version > REFUSED.get(statement, 0)), statement


@on_the_newest
async def test_a_prepared_choice_stays_what_it_was_when_somebody_may_create_later(
    arena: Arena, live: Live
) -> None:
    await furnish(arena, live, ())
    with session(live) as victim:
        qid, n = asked(
            victim, live, "SELECT lower(nick) FROM clients WHERE nick = nick AND nick IN ('Ann', 'Bob')"
        )
        choose = f"NL CHOOSE {n} OF '{qid}'"
        for _ in range(3):
            assert len(victim.execute(choose, prepare=True).fetchall()) == 2
        await arena.admin.execute("GRANT CREATE ON SCHEMA public TO role_a")
        await arena.as_role(ATTACKER, left("public", LEFTOVERS[:1] + LEFTOVERS[4:5]))
        arena.log.sightings()
        for _ in range(3):
            assert len(victim.execute(choose, prepare=True).fetchall()) == 2
        assert not arena.log.sightings()


@on_the_newest
async def test_a_backslash_is_one_whatever_the_session_says(arena: Arena, live: Live) -> None:
    await furnish(arena, live, ())
    await arena.as_role(VICTIM, "CREATE TABLE b.made (id int)")
    await asyncio.to_thread(live.refreshed)
    statement = r"SELECT '\' AS a, '; INSERT INTO b.made VALUES (1); SELECT ''x' AS b"
    with session(live, "-c standard_conforming_strings=off -c escape_string_warning=off") as victim:
        qid, n = asked(victim, live, statement)
        for sql in (f"NL CHOOSE {n} OF '{qid}'", f"SELECT * FROM nl.run('{qid}', {n}) AS t"):
            assert victim.execute(sql).fetchall() == [("\\", "; INSERT INTO b.made VALUES (1); SELECT 'x")]
        assert victim.execute("SELECT count(*) FROM b.made").fetchone() == (0,)


@on_the_newest
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("way", ["NL CHOOSE {n} OF '{qid}'", "SELECT * FROM nl.run('{qid}', {n}) AS t"])
async def test_no_moment_is_good_for_a_schema_with_the_victims_name(
    arena: Arena, live: Live, way: str, calls: int
) -> None:
    planted = (
        left("role_b", LEFTOVERS[:1] + LEFTOVERS[4:5])
        + "CREATE VIEW role_b.clients AS SELECT a.spy_int(1) AS id, a.spy_text('x')::varchar AS nick;"
    )
    race = Race(
        "schema of the victim's name",
        "",
        "GRANT USAGE ON SCHEMA role_b TO role_b; GRANT SELECT ON ALL TABLES IN SCHEMA role_b TO role_b",
        "REVOKE USAGE ON SCHEMA role_b FROM role_b",
        "SELECT lower(nick) FROM clients",
    )
    await furnish(arena, live, ())
    await arena.plant(Attack(race.name, f"CREATE SCHEMA role_b; {planted}", ()))
    await arena.as_role(ATTACKER, race.trap)
    await arena.typed(VICTIM, race.statement)
    assert arena.log.sightings(), "the trap does not work"
    await arena.as_role(ATTACKER, race.harmless)
    with session(live, "") as victim:
        qid, n = asked(
            victim, live, "SELECT lower(nick) FROM clients WHERE nick IN (SELECT nick FROM visits)"
        )
        sql = way.format(qid=qid, n=n)
        async with flipping(arena, race) as flips:
            for _ in range(calls):
                assert (await asyncio.to_thread(lambda: victim.execute(sql).fetchall())) == [("ann",)]
            assert not arena.log.sightings()
            assert flips[0] > calls // 20


AGAIN = """
DROP OWNED BY role_a CASCADE;
CREATE SCHEMA IF NOT EXISTS ext;
GRANT CREATE ON DATABASE arena TO role_a;
GRANT CREATE, USAGE ON SCHEMA public, ext TO role_a;
GRANT USAGE ON SCHEMA ext TO role_b;
"""


@on_the_newest
async def test_nothing_that_is_left_behind_anywhere_is_evaluated(arena: Arena, live: Live) -> None:
    """In public, where the extension is, in another schema, in one of the victim's name; several at once."""
    await furnish(arena, live, ())
    loop = asyncio.get_running_loop()
    fired: list[bool] = []

    async def leave(schema: str, leftovers: tuple[Leftover, ...]) -> None:
        await arena.admin.execute(AGAIN)
        await arena.as_role(ATTACKER, PLANTED)
        own = "CREATE SCHEMA role_b; GRANT USAGE ON SCHEMA role_b TO role_b;"
        await arena.as_role(ATTACKER, own, left(schema, leftovers))
        await arena.admin.execute(f"{NO_MORE}; REVOKE CREATE ON SCHEMA ext FROM role_a")

    async def typed(schema: str, statement: str) -> bool:
        await arena.typed(VICTIM, f"SET search_path = {schema}, public, pg_catalog; {statement}")
        return bool(arena.log.sightings())

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(leftovers=some, schema=st.sampled_from(["public", "ext", "role_b"]), data=st.data())
    def combinations(leftovers: tuple[Leftover, ...], schema: str, data: st.DataObject) -> None:
        statement = data.draw(st.sampled_from([each for one in leftovers for each in one.statements]))
        for work in (leave(schema, leftovers), typed(schema, statement)):
            found = asyncio.run_coroutine_threadsafe(work, loop).result()  # type: ignore[var-annotated]
        fired.append(bool(found))
        with session(live, f"-c search_path={schema},public,pg_catalog") as victim:
            ran = runs(victim, live, statement)
        assert not arena.log.sightings(), statement
        assert ran or arena.server.version <= REFUSED.get(statement, 0), statement

    await asyncio.to_thread(combinations)
    assert sum(fired) > EXAMPLES / 3
