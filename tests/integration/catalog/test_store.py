"""What introspection sees of real schemas, and the catalog at rest with its cache, on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace

import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.catalog import CachedCatalog, StoreUnavailableError
from schema_catalog.introspect import introspect
from schema_catalog.migrate import Migration, MigrationError, bundled, migrate
from schema_catalog.naming import KEYWORDS, quote_ident
from schema_catalog.store import CatalogStore, UnknownNameError
from schema_catalog.types import Column, Database, ForeignKey, Login, Snapshot, Table, TableKind
from tests.integration.catalog.conftest import MakeDatabase
from tests.support.statements import connected, execute, fetch

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


async def taken(database: Database) -> Snapshot:
    async with connected(database.dsn) as connection:
        return await introspect(connection, database)


async def test_tables_columns_and_comments(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE TABLE film (id int PRIMARY KEY, title varchar(80) NOT NULL, tags text[], gone int,
            price numeric(6,2));
        ALTER TABLE film DROP COLUMN gone;
        COMMENT ON TABLE film IS 'What is shown';
        COMMENT ON COLUMN film.price IS 'Euro';
        CREATE VIEW cheap AS SELECT title FROM film WHERE price < 5;
        CREATE MATERIALIZED VIEW totals AS SELECT count(*) AS n FROM film;
        CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER far FOREIGN DATA WRAPPER nowhere;
        CREATE FOREIGN TABLE remote (a date) SERVER far;
        CREATE TEMP TABLE scratch (a int);
        CREATE SCHEMA pgparley; CREATE TABLE pgparley.own (a int);
    """)
    tables = {table.name: table for table in (await taken(database)).tables}
    assert {name: table.kind for name, table in tables.items()} == {
        "film": TableKind.TABLE,
        "cheap": TableKind.VIEW,
        "totals": TableKind.MATERIALIZED_VIEW,
        "remote": TableKind.FOREIGN,
    }
    assert tables["film"].columns == (
        Column("id", "integer", nullable=False),
        Column("title", "character varying(80)", nullable=False),
        Column("tags", "text[]"),
        Column("price", "numeric(6,2)", description="Euro"),
    )
    assert tables["film"].description == "What is shown"
    assert tables["film"].row_estimate is None
    assert tables["cheap"].row_estimate is None


async def test_row_estimates_come_from_statistics_and_leave_the_fingerprint_alone(
    make_database: MakeDatabase,
) -> None:
    database = await make_database("CREATE TABLE t AS SELECT generate_series(1, 40) AS n")
    before = await taken(database)
    await execute(database.dsn, "ANALYZE t")
    after = await taken(database)
    assert (before.tables[0].row_estimate, after.tables[0].row_estimate) == (None, 40)
    assert before.fingerprint == after.fingerprint


async def test_checks_and_what_is_behind_a_type(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE TYPE place AS (x int, "In Town" varchar(20));
        CREATE DOMAIN percent AS numeric(5,2) CHECK (value BETWEEN 0 AND 100);
        CREATE TABLE room (at place, full_ percent, low int CHECK (low > 0), high int, CHECK (low < high),
            CHECK (room IS NOT NULL));
    """)
    (room,) = (await taken(database)).tables
    at, full, low, _ = room.columns
    assert at.fields == ("x integer", '"In Town" character varying(20)')
    assert full.domain == "numeric(5,2) CHECK (((VALUE >= (0)::numeric) AND (VALUE <= (100)::numeric)))"
    assert (low.fields, low.domain) == ((), "")
    assert [(check.columns, check.sql) for check in room.checks] == [
        (("low", "high"), "CHECK ((low < high))"),
        (("low",), "CHECK ((low > 0))"),
    ]
    hidden = frozenset(("public", "room", name) for name in ("at", "full_", "low"))
    (seen,) = (await taken(database)).restricted_to(hidden).tables
    assert [check.columns for check in seen.checks] == [("low",)]


async def test_composite_keys(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE TABLE seat (hall int, "row" text, n int, label text, PRIMARY KEY (hall, "row", n),
            UNIQUE (label) INCLUDE (n));
        CREATE UNIQUE INDEX partial ON seat (n) WHERE hall = 1;
        CREATE UNIQUE INDEX expression ON seat (lower(label));
        CREATE UNIQUE INDEX whole ON seat (label, hall);
        CREATE TABLE ticket (id int PRIMARY KEY, no int, r text, h int,
            FOREIGN KEY (h, r, no) REFERENCES seat (hall, "row", n));
    """)
    seat, ticket = (await taken(database)).tables
    assert seat.primary_key == ("hall", "row", "n")
    assert set(seat.unique_keys) == {("label",), ("label", "hall")}
    reference = ForeignKey(("h", "r", "no"), "public", "seat", ("hall", "row", "n"), enforced=True)
    assert ticket.foreign_keys == (reference,)


async def test_a_foreign_key_that_is_not_checked_at_once_is_not_enforced(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE TABLE hall (id int PRIMARY KEY);
        CREATE TABLE seat (id int PRIMARY KEY, late int REFERENCES hall DEFERRABLE, unchecked int);
        ALTER TABLE seat ADD FOREIGN KEY (unchecked) REFERENCES hall NOT VALID;
    """)
    _, seat = (await taken(database)).tables
    assert {key.columns: key.enforced for key in seat.foreign_keys} == {
        ("late",): False,
        ("unchecked",): False,
    }


async def test_partitions_are_left_out_and_their_parent_is_not(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE TABLE sale (id int, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
        CREATE TABLE sale_2023 PARTITION OF sale FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
        CREATE TABLE sale_2024 PARTITION OF sale FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')
            PARTITION BY LIST (id);
        CREATE TABLE sale_2024_1 PARTITION OF sale_2024 FOR VALUES IN (1);
        CREATE TABLE refund (sale_id int, at date, FOREIGN KEY (sale_id, at) REFERENCES sale);
    """)
    refund, sale = (await taken(database)).tables
    assert (sale.name, sale.kind) == ("sale", TableKind.PARTITIONED)
    assert len(refund.foreign_keys) == 1


async def test_names_of_every_kind_are_stored_raw_and_written_so_that_the_server_finds_them(
    make_database: MakeDatabase,
) -> None:
    names = ["Order", "select", "two words", 'quo"te', "straße", "売上", "جدول", "1st", "a-b", "x$y", "ok_1"]
    statements = [f'CREATE TABLE {_quoted(name)} ({_quoted(name)} int, "Größe" int)' for name in names]
    database = await make_database(
        "; ".join([*statements, 'CREATE SCHEMA "My Schema"', 'CREATE TABLE "My Schema".t ()'])
    )
    snapshot = await taken(database)
    assert {table.name for table in snapshot.tables} == {*names, "t"}
    async with connected(database.dsn) as connection:
        for table in snapshot.tables:
            written = snapshot.display_name(table)
            oid = await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", written)
            assert oid, written
            assert await connection.fetchval("SELECT quote_ident($1)", table.name) == quote_ident(table.name)
            columns = ", ".join(quote_ident(column.name) for column in table.columns)
            assert await connection.fetch(f"SELECT {columns} FROM {written}") == []
    written = {snapshot.display_name(table) for table in snapshot.tables}
    assert {'"Order"', '"select"', "ok_1", '"My Schema".t'} <= written


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


async def test_the_keywords_are_those_of_the_server(server: Cluster) -> None:
    rows = await fetch(server.dsn(), "SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'")
    assert {row["word"] for row in rows} == KEYWORDS


async def test_a_name_that_another_schema_takes_first_is_qualified(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE SCHEMA a; CREATE SCHEMA b;
        CREATE TABLE a.t (x int); CREATE TABLE b.t (y int); CREATE TABLE b.u (z int);
        CREATE TABLE pg_class (w int);
    """)
    snapshot = await taken(replace(database, search_path=("a", "b", "public")))
    assert [snapshot.display_name(table) for table in snapshot.tables] == ["t", "b.t", "u", "public.pg_class"]
    hidden = snapshot.restricted_to(frozenset({("b", "t", "y"), ("b", "u", "z")}))
    assert [hidden.display_name(table) for table in hidden.tables] == ["b.t", "u"]


async def test_only_the_schemas_of_the_entry(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE SCHEMA a; CREATE TABLE a.t (x int PRIMARY KEY);
        CREATE TABLE other (x int REFERENCES a.t);
        CREATE TABLE a.u (y int REFERENCES a.t)
    """)
    snapshot = await taken(replace(database, search_path=("a",), schemas=("a",)))
    assert [table.key for table in snapshot.tables] == [("a", "t"), ("a", "u")]
    snapshot = await taken(replace(database, schemas=("public",)))
    assert [table.key for table in snapshot.tables] == [("public", "other")]
    assert snapshot.tables[0].foreign_keys == ()


async def test_types_of_the_users_own_schemas_are_written_as_the_search_path_needs(
    make_database: MakeDatabase,
) -> None:
    database = await make_database("""
        CREATE SCHEMA kinds; CREATE TYPE kinds.mood AS ENUM ('ok'); CREATE DOMAIN grade AS int;
        CREATE TABLE t (a kinds.mood, b grade)
    """)
    snapshot = await taken(database)
    assert [column.type for column in snapshot.tables[0].columns] == ["kinds.mood", "grade"]


async def test_what_an_extension_owns_is_left_out(make_database: MakeDatabase) -> None:
    database = await make_database("CREATE TABLE own (a int)")
    there = "SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements'"
    if not await fetch(database.dsn, there):
        pytest.skip("this server has no extension with tables")
    await execute(database.dsn, "CREATE EXTENSION pg_stat_statements")
    assert [table.name for table in (await taken(database)).tables] == ["own"]


async def test_names_survive_the_sessions_own_settings(make_database: MakeDatabase) -> None:
    database = await make_database("CREATE TABLE t (a int)")
    async with connected(database.dsn, server_settings={"search_path": ""}) as connection:
        assert len((await introspect(connection, database)).tables) == 1
        assert await connection.fetchval("SHOW search_path") == ""


async def test_labels_of_enums_and_of_domains_over_them(make_database: MakeDatabase) -> None:
    database = await make_database("""
        CREATE TYPE size AS ENUM ('small', 'Large');
        ALTER TYPE size ADD VALUE 'it''s medium' BEFORE 'Large';
        CREATE DOMAIN shoe AS size CHECK (value > 'small');
        CREATE TABLE box (id int, size size, fits shoe);
    """)
    (table,) = (await taken(database)).tables
    labels = ("small", "it's medium", "Large")
    assert table.columns == (
        Column("id", "integer"),
        Column("size", "size", labels=labels),
        Column("fits", "shoe", labels=labels, domain="size CHECK ((VALUE > 'small'::public.size))"),
    )
