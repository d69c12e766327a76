"""The catalog at rest and its cache, on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace

import asyncpg
import pytest

from schema_catalog.catalog import CachedCatalog, StoreUnavailableError
from schema_catalog.introspect import introspect
from schema_catalog.migrate import Migration, MigrationError, bundled, migrate
from schema_catalog.store import CatalogStore, UnknownNameError
from schema_catalog.types import Column, Database, Login, Snapshot, Table, TableKind
from tests.integration.catalog.conftest import MakeDatabase
from tests.support.statements import connected

SALES = Database("sales", "postgresql://u:p@h/sales", "sales", ("public", "extra"), ("public", "extra"))
FILM = Table("public", "film", TableKind.TABLE, (Column("id", "integer"),), row_estimate=3)
FIRST = Snapshot("sales", ("public",), (FILM,))
SECOND = Snapshot("sales", ("public",), (FILM, replace(FILM, name="genre")))


@pytest.fixture
def store(pool: asyncpg.Pool) -> CatalogStore:
    return CatalogStore(pool)


class CountingStore(CatalogStore):
    """Counts how many snapshots are read."""

    read = 0

    async def snapshots(self, ids: Iterable[int]) -> dict[int, Snapshot]:
        """As the store's own, counted."""
        found = await super().snapshots(ids)
        self.read += len(found)
        return found


async def test_migrations_are_applied_once_and_by_one_at_a_time(make_database: MakeDatabase) -> None:
    database = await make_database("SELECT 1")
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(connected(database.dsn)) for _ in range(3)]
        applied = await asyncio.gather(*(migrate(connection) for connection in connections))
        names = tuple(migration.name for migration in bundled())
        assert sorted(applied) == sorted([names, (), ()])
        assert await migrate(connections[0]) == ()


async def test_quotas_and_budgets_that_were_set_hold_on(make_database: MakeDatabase) -> None:
    """Those of a store from before people stood behind a login."""
    database = await make_database("SELECT 1")
    before = tuple(each for each in bundled() if each.name < "0012")
    async with connected(database.dsn) as connection:
        await migrate(connection, before)
        await connection.execute(
            "SELECT nl_catalog.set_quota('a', 5);"
            "SELECT nl_catalog.set_token_budget('a', 70), nl_catalog.set_token_budget('b', 8);"
            "INSERT INTO pgparley.token_use VALUES ('a', pgparley.today(), 1, 60, 5, 9)"
        )
        await migrate(connection)
        limits = "SELECT what, most::int FROM pgparley.limits_of($1, '')"
        assert await connection.fetch(limits, "a") == [("questions_an_hour", 5), ("tokens_a_day", 70)]
        assert await connection.fetch(limits, "b") == [("tokens_a_day", 8)]
        admitted = "SELECT what, used::int FROM pgparley.admit('a', 'eva')"
        assert (await connection.fetchrow(admitted))["what"] is None
        await connection.execute("SELECT pgparley.spend_tokens('a', 'eva', 1, 0, 0, 0)")
        assert await connection.fetch(admitted) == [("tokens_a_day", 70)]


async def test_an_edited_or_a_newer_migration_is_refused(make_database: MakeDatabase) -> None:
    database = await make_database("SELECT 1")
    one, two = (
        Migration("0001_a.sql", "CREATE TABLE pgparley.a ()"),
        Migration("0002_b.sql", "CREATE TABLE pgparley.b ()"),
    )
    async with connected(database.dsn) as connection:
        assert await migrate(connection, (one,)) == ("0001_a.sql",)
        assert await migrate(connection, (one, two)) == ("0002_b.sql",)
        with pytest.raises(MigrationError, match="newer than this version"):
            await migrate(connection, (one,))
        with pytest.raises(MigrationError, match=r"another 0001_a\.sql.*make the store anew"):
            await migrate(connection, (replace(one, sql="SELECT 2"), two))


async def test_a_migration_that_fails_leaves_nothing(make_database: MakeDatabase) -> None:
    database = await make_database("SELECT 1")
    bad = Migration("0001_a.sql", "CREATE TABLE pgparley.a (); SELECT nonsense")
    async with connected(database.dsn) as connection:
        with pytest.raises(asyncpg.UndefinedColumnError):
            await migrate(connection, (bad,))
        assert not await connection.fetchval("SELECT count(*) FROM pg_namespace WHERE nspname = 'pgparley'")


async def test_readers_notice_a_login_and_a_database_takes_its_logins_with_it(
    pool: asyncpg.Pool, store: CatalogStore
) -> None:
    catalog = CachedCatalog(store)
    await store.add(SALES)
    await store.save_snapshot(FIRST)
    assert (await catalog.entries())[0][0].logins == ()
    login = Login("ana", "postgresql://ana@h/sales")
    await store.add_login("sales", login)
    assert (await catalog.entries())[0][0].logins == (login,)
    await pool.execute("UPDATE pgparley.login SET dsn = 'postgresql://ann@h/sales'")
    assert (await catalog.entries())[0][0].logins == (replace(login, dsn="postgresql://ann@h/sales"),)
    await store.remove_login("sales", "ana")
    assert (await catalog.entries())[0][0].logins == ()
    await store.set_identity("sales", "7/16384")
    assert (await catalog.entries())[0][0].identity == "7/16384"
    await store.add_login("sales", login)
    await store.remove("sales")
    assert await pool.fetchval("SELECT count(*) FROM pgparley.login") == 0


async def test_the_newest_snapshot_is_the_last_one_seen_even_when_it_is_an_old_schema(
    store: CatalogStore,
) -> None:
    with pytest.raises(UnknownNameError):
        await store.save_snapshot(FIRST)
    await store.add(SALES)
    assert await store.newest("sales") is None
    first = await store.save_snapshot(FIRST)
    second = await store.save_snapshot(SECOND)
    assert first != second
    assert await store.newest("sales") == SECOND
    grown = replace(FIRST, tables=(replace(FILM, row_estimate=900),))
    assert await store.save_snapshot(grown) == first
    assert await store.newest("sales") == grown


async def test_real_schemas_survive_the_store(store: CatalogStore, make_database: MakeDatabase) -> None:
    database = await make_database(
        r"""
        CREATE TABLE "Ünïcode \ ""q"" x" ("売上" int PRIMARY KEY, b text);
        COMMENT ON COLUMN "Ünïcode \ ""q"" x".b IS E'a\nb\u2028'
        """
    )
    async with connected(database.dsn) as connection:
        snapshot = await introspect(connection, database)
    await store.add(database)
    await store.save_snapshot(snapshot)
    assert await store.newest(database.name) == snapshot


async def test_a_change_is_seen_at_the_next_question_and_the_rest_is_kept(pool: asyncpg.Pool) -> None:
    store = CountingStore(pool)
    catalog = CachedCatalog(store)
    assert await catalog.entries() == ()
    other = replace(SALES, name="other")
    for database in (SALES, other):
        await store.add(database)
    assert await catalog.entries() == ()
    await store.save_snapshot(FIRST)
    await store.save_snapshot(replace(FIRST, database="other"))
    before = await catalog.entries()
    assert {database.name: len(each.tables) for database, each in before} == {"other": 1, "sales": 1}
    assert await catalog.entries() is before
    await store.save_snapshot(SECOND)
    after = await catalog.entries()
    assert {database.name: len(each.tables) for database, each in after} == {"other": 1, "sales": 2}
    assert after[0][1] is before[0][1]
    assert store.read == 3
    await store.remove("sales")
    assert [database.name for database, _ in await catalog.entries()] == ["other"]
    await pool.execute("UPDATE pgparley.database SET search_path = '{a}' WHERE name = 'other'")
    assert (await catalog.entries())[0][0].search_path == ("a",)


async def test_a_store_that_is_gone_is_said_to_be(pool: asyncpg.Pool) -> None:
    catalog = CachedCatalog(CatalogStore(pool))
    await pool.execute("DROP SCHEMA pgparley CASCADE")
    with pytest.raises(StoreUnavailableError):
        await catalog.entries()
