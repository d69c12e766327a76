"""What people write into the catalog is planned by no role of ours, and what they left on a server is not called.

role_a may create nothing any more: what it planted while it could is still there, as on servers from before 15.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import asyncpg
import pytest

from engine.app.checking import check_pending
from engine.link.value_reader import Unread, read_values
from engine.upstream import Databases
from engine.values.settings import UpstreamSettings
from pgparley.check.databases import check_databases
from pgparley.store_session import SETTINGS, run_on_store
from schema_catalog.definitions import State
from schema_catalog.migrate import migrate
from schema_catalog.pg import Pool
from schema_catalog.refresh import describe, digest_now, owners_to_trust, refresh
from schema_catalog.store import CatalogStore
from tests.security import engine_door
from tests.security.arena import ATTACKER, CATALOG, Arena

T = TypeVar("T")

_PEOPLE = """
CREATE EXTENSION IF NOT EXISTS citext SCHEMA public;
CREATE TABLE public.people (nick citext, city varchar);
INSERT INTO public.people VALUES ('n', 'c');
GRANT SELECT ON public.people TO catalog, role_a;
"""

_LEFT_BEHIND = """
CREATE FUNCTION public.lower(varchar) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT a.spy_text($1)';
CREATE FUNCTION public.length(varchar) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a.spy_int(1)';

CREATE FUNCTION public.sly(oid, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a.spy()';
CREATE FUNCTION public.sly(text[], text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a.spy()';
CREATE FUNCTION public.sly(varchar, varchar) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a.spy()';
CREATE OPERATOR public.>= (LEFTARG = oid, RIGHTARG = int, FUNCTION = public.sly);
CREATE OPERATOR public.= (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.sly);
CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.sly);
CREATE OPERATOR public.<> (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.sly);
"""

_STATEMENTS = (
    "SELECT lower('x'::varchar) FROM people",
    "SELECT city FROM people WHERE city = 'c'::varchar",
    "SELECT city FROM people WHERE nick = city",
)

_OURS = (
    "SELECT FROM pg_roles WHERE oid >= 16384",
    "SELECT FROM pg_roles WHERE '{a}'::text[] = '{b}'::text[]",
)
"""Operators as the catalog's own queries use them."""

_TAKEN_DOWN = """
DROP SCHEMA pgparley, nl_catalog CASCADE;
DROP TABLE public.people;
"""


@pytest.fixture
async def registered(arena: Arena) -> AsyncIterator[Arena]:
    """The arena as its own store, in which it is registered."""
    await arena.as_role("postgres", _PEOPLE)
    await migrate(arena.admin)
    async with asyncpg.create_pool(arena.dsn(), min_size=1, max_size=1) as pool:
        await CatalogStore(pool).add(engine_door.database(arena))
        await refresh(CatalogStore(pool), engine_door.database(arena), SETTINGS)
    await arena.as_role(ATTACKER, _LEFT_BEHIND)
    await arena.as_role("postgres", "REVOKE CREATE ON SCHEMA public FROM PUBLIC, role_a")
    arena.log.sightings()
    yield arena
    await arena.as_role("postgres", _TAKEN_DOWN)
    if arena.server.version < 15:
        await arena.as_role("postgres", "GRANT CREATE ON SCHEMA public TO PUBLIC")


async def on_store(arena: Arena, work: Callable[[Pool, Databases], Awaitable[T]]) -> T:
    """Runs `work` on the store as the commands do, with an engine's way to databases."""

    async def opened(pool: Pool) -> T:
        databases = Databases(UpstreamSettings(pool_size=2))
        try:
            return await work(pool, databases)
        finally:
            await databases.aclose()

    return await asyncio.to_thread(run_on_store, arena.dsn(), opened)


async def test_what_was_left_behind_is_real(registered: Arena) -> None:
    for statement in _STATEMENTS:
        await registered.typed(CATALOG, f"SET search_path = pg_catalog, public; EXPLAIN {statement}")
        assert registered.log.sightings(), statement
    for statement in _OURS:
        await registered.typed(CATALOG, statement)
        assert registered.log.sightings(), statement


async def test_what_a_steward_defines_is_not_planned(registered: Arena) -> None:
    for number, sql in enumerate(_STATEMENTS):
        await registered.admin.execute("SELECT nl_catalog.verify('arena', $1, $2)", f"q{number}", sql)
    await registered.admin.execute(
        "SELECT nl_catalog.define_term('arena', 'low', $$lower('x'::varchar) = people.city$$)"
    )
    checked = await on_store(registered, check_pending)
    assert {verdict.state for _, verdict in checked} == {State.CHECKED}
    assert len(checked) == len(_STATEMENTS) + 1
    assert registered.log.sightings() == ()


async def test_what_the_catalogs_role_does_by_itself_calls_nothing_of_others(registered: Arena) -> None:
    database = engine_door.database(registered)

    async def work(pool: Pool, databases: Databases) -> None:
        await describe("arena", database.dsn, (), SETTINGS)
        await refresh(CatalogStore(pool), database, SETTINGS)
        await digest_now(database, SETTINGS)
        await owners_to_trust(database, (), SETTINGS)
        snapshot = await CatalogStore(pool).newest("arena")
        assert snapshot is not None
        columns = [("public", "people", column) for column in ("nick", "city")]
        read = await read_values(database, snapshot, columns, databases, SETTINGS)
        assert [outcome for outcome in read if isinstance(outcome, Unread)] == []
        assert [finding async for finding in check_databases(pool, UpstreamSettings(), SETTINGS)]

    await on_store(registered, work)
    assert registered.log.sightings() == ()
