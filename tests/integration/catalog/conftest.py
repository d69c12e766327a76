"""One server for the catalog's tests, a fresh database for each test that asks for one."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.migrate import migrate
from schema_catalog.refresh import ConnectSettings, refresh
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, Snapshot
from tests.conftest import COPY, Postgres
from tests.support.statements import connected, execute, execute_now

_NUMBERS = itertools.count(1)

MakeDatabase = Callable[..., Awaitable[Database]]
MakeRole = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("catalog") as running:
        yield running


@pytest.fixture
async def make_database(server: Cluster, make_role: MakeRole) -> AsyncIterator[MakeDatabase]:
    """Creates a database that holds what the given SQL makes; dropped at the end.

    Takes `make_role` so that databases are dropped first, and with them what was granted in them.
    """
    made: list[str] = []

    async def make(sql: str, template: str = "template1") -> Database:
        dbname = f"test_{next(_NUMBERS)}"
        await execute(server.dsn(), f"CREATE DATABASE {dbname} TEMPLATE {template} {COPY}")
        made.append(dbname)
        await execute(server.dsn(dbname), sql)
        return Database(dbname, server.dsn(dbname), dbname, ("public",))

    yield make
    for dbname in made:
        await execute(server.dsn(), f"DROP DATABASE {dbname} WITH (FORCE)")


@pytest.fixture(scope="session")
def empty_store(server: Cluster) -> str:
    """The name of a migrated store, to be a template."""

    async def prepare() -> None:
        async with connected(server.dsn("empty_store")) as connection:
            await migrate(connection)

    execute_now(server.dsn(), "CREATE DATABASE empty_store")
    asyncio.run(prepare())
    return "empty_store"


@pytest.fixture
async def make_store(make_database: MakeDatabase, empty_store: str) -> MakeDatabase:
    """Creates a migrated store that holds the given snapshots of registered databases; dropped at the end."""

    async def make(*snapshots: Snapshot) -> Database:
        made = await make_database("SELECT 1", empty_store)
        await _keep(made.dsn, snapshots)
        return made

    return make


@pytest.fixture
async def own_store(make_store: MakeDatabase) -> Database:
    """An empty store."""
    return await make_store()


@pytest.fixture
async def pool(own_store: Database) -> AsyncIterator[asyncpg.Pool]:
    async with asyncpg.create_pool(own_store.dsn, min_size=1, max_size=4) as opened:
        yield opened


@pytest.fixture
async def shop(make_database: MakeDatabase, pool: asyncpg.Pool) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the database sales, which is registered and read."""
    made = await make_database(
        "CREATE TABLE customers (no int PRIMARY KEY, status text);"
        "CREATE TABLE orders (id int, cust_no int, net numeric)"
    )
    await CatalogStore(pool).add(Database("sales", made.dsn, made.dbname, ("public",)))
    await read_anew(pool)
    async with connected(made.dsn) as connection:
        yield connection


async def read_anew(pool: asyncpg.Pool) -> None:
    """Reads the schema of sales again."""
    store = CatalogStore(pool)
    await refresh(store, (await store.get("sales")).database, ConnectSettings())


async def newest(pool: asyncpg.Pool) -> Snapshot:
    """The schema of sales as it was read last."""
    snapshot = await CatalogStore(pool).newest("sales")
    assert snapshot is not None
    return snapshot


@pytest.fixture
def make_store_now(server: Cluster, empty_store: str) -> Iterator[Callable[..., str]]:
    """As `make_store`, where no event loop runs; gives the DSN."""
    made: list[str] = []

    def make(*snapshots: Snapshot) -> str:
        dbname = f"test_{next(_NUMBERS)}"
        execute_now(server.dsn(), f"CREATE DATABASE {dbname} TEMPLATE {empty_store} {COPY}")
        made.append(dbname)
        asyncio.run(_keep(server.dsn(dbname), snapshots))
        return server.dsn(dbname)

    yield make
    for dbname in made:
        execute_now(server.dsn(), f"DROP DATABASE {dbname} WITH (FORCE)")


async def _keep(dsn: str, snapshots: Iterable[Snapshot]) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        store = CatalogStore(pool)
        for snapshot in snapshots:
            await store.add(Database(snapshot.database, "postgresql://h/x", "x", ("public",)))
            await store.save_snapshot(snapshot)


@pytest.fixture
async def make_role(server: Cluster) -> AsyncIterator[MakeRole]:
    """Creates a role with the given options; dropped at the end."""
    made: list[str] = []

    async def make(options: str = "LOGIN") -> str:
        role = f"role_{next(_NUMBERS)}"
        await execute(server.dsn(), f"CREATE ROLE {role} {options}")
        made.append(role)
        return role

    yield make
    for role in reversed(made):
        await execute(server.dsn(), f"DROP ROLE {role}")
