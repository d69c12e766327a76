"""Changes of schemas on a real server: noticed by a digest, noted, renames proposed and decided on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from engine.app.schema_watch import SchemaWatch
from engine.metrics import Metrics
from engine.settings import CatalogSettings
from pgparley.cluster import Cluster
from schema_catalog.migrate import migrate
from schema_catalog.refresh import ConnectSettings, digest_now, refresh
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database

MakeDatabase = Callable[[str], Awaitable[Database]]
MakeRole = Callable[..., Awaitable[str]]

SHOP = """
CREATE TABLE customers (no int PRIMARY KEY, status text);
CREATE TABLE orders (id int, cust_no int, net numeric);
"""


@pytest.fixture
async def pool(make_database: MakeDatabase) -> AsyncIterator[asyncpg.Pool]:
    made = await make_database("SELECT 1")
    async with asyncpg.create_pool(made.dsn, min_size=1, max_size=3) as opened:
        async with opened.acquire() as connection:
            await migrate(connection)
        yield opened


@pytest.fixture
async def shop(make_database: MakeDatabase, pool: asyncpg.Pool) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the registered database sales, of which a snapshot was taken."""
    made = await make_database(SHOP)
    store = CatalogStore(pool)
    await store.add(Database("sales", made.dsn, made.dbname, ("public",)))
    await read_anew(pool)
    connection = await asyncpg.connect(made.dsn)
    yield connection
    await connection.close()


async def read_anew(pool: asyncpg.Pool) -> None:
    store = CatalogStore(pool)
    await refresh(store, (await store.get("sales")).database, ConnectSettings())


async def drift(pool: asyncpg.Pool) -> list[tuple[Any, ...]]:
    rows = await pool.fetch("SELECT what, old, new, state FROM nl_catalog.drift ORDER BY id")
    return [tuple(row) for row in rows]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE orders ADD COLUMN vat numeric",
        "ALTER TABLE orders RENAME COLUMN net TO net_amount",
        "ALTER TABLE orders RENAME TO purchases",
        "ALTER TABLE orders ALTER COLUMN id TYPE bigint",
        "ALTER TABLE orders ALTER COLUMN id SET NOT NULL",
        "ALTER TABLE orders ADD UNIQUE (id)",
        "ALTER TABLE orders ADD FOREIGN KEY (cust_no) REFERENCES customers",
        "COMMENT ON COLUMN orders.net IS 'net of returns'",
        "COMMENT ON TABLE orders IS 'what was sold'",
        "DROP TABLE customers",
        "CREATE VIEW late AS SELECT * FROM orders",
    ],
)
async def test_the_digest_changes_with_the_schema(
    statement: str, shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    database = (await CatalogStore(pool).get("sales")).database
    before = await digest_now(database, ConnectSettings())
    await shop.execute(statement)
    assert await digest_now(database, ConnectSettings()) != before


async def test_the_digest_stays_where_rows_and_the_hidden_change(
    shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    database = (await CatalogStore(pool).get("sales")).database
    before = await digest_now(database, ConnectSettings())
    await shop.execute("INSERT INTO customers VALUES (1, 'A'); ANALYZE; CREATE INDEX ON orders (net)")
    assert await digest_now(database, ConnectSettings()) == before


async def test_the_watch_refreshes_what_changed_and_one_engine_at_a_time(
    shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    store, metrics, nothing = CatalogStore(pool), Metrics(), None
    watch = SchemaWatch(pool, nothing, metrics, CatalogSettings(watch=0.001))  # type: ignore[arg-type]  # no values are allowed
    await watch.look()
    await shop.execute("ALTER TABLE orders RENAME COLUMN net TO net_amount")
    async with store.drift.turn("sales", 0.001) as mine:
        assert mine
        await watch.look()
        assert await drift(pool) == []
    await watch.look()
    assert await drift(pool) == [
        ("renamed", "sales.public.orders.net", "sales.public.orders.net_amount", "proposed")
    ]
    snapshot = await store.newest("sales")
    assert snapshot is not None
    assert [column.name for column in snapshot.tables[1].columns] == ["id", "cust_no", "net_amount"]
    assert metrics.registry.get_sample_value("pgparley_renames_proposed") == 1
    labels = {"database": "sales", "what": "renamed"}
    assert metrics.registry.get_sample_value("pgparley_schema_drift_total", labels) == 1


async def test_nobody_looks_again_before_the_interval_is_over(
    shop: asyncpg.Connection, pool: asyncpg.Pool
) -> None:
    watch = SchemaWatch(pool, None, Metrics(), CatalogSettings(watch=3600))  # type: ignore[arg-type]  # as above
    await watch.look()
    await shop.execute("DROP TABLE orders")
    await watch.look()
    assert await drift(pool) == []


async def test_a_database_that_does_not_answer_is_noted(
    shop: asyncpg.Connection, pool: asyncpg.Pool, server: Cluster
) -> None:
    await pool.execute("UPDATE pgparley.database SET dsn = $1", server.dsn("not_there"))
    watch = SchemaWatch(pool, None, Metrics(), CatalogSettings())  # type: ignore[arg-type]  # as above
    await watch.look()
    problem = await pool.fetchval("SELECT problem FROM pgparley.schema_watch")
    assert problem.startswith("cannot connect: ")
