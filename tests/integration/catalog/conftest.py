"""One server for the catalog's tests, a fresh database for each test that asks for one."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.migrate import migrate
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, Snapshot
from tests.conftest import Postgres
from tests.support.statements import execute_now

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
        await _execute(server.dsn(), f"CREATE DATABASE {dbname} TEMPLATE {template}")
        made.append(dbname)
        await _execute(server.dsn(dbname), sql)
        return Database(dbname, server.dsn(dbname), dbname, ("public",))

    yield make
    for dbname in made:
        await _execute(server.dsn(), f"DROP DATABASE {dbname} WITH (FORCE)")


@pytest.fixture(scope="session")
def empty_store(server: Cluster) -> str:
    """The name of a migrated store, to be a template."""

    async def prepare() -> None:
        connection = await asyncpg.connect(server.dsn("empty_store"))
        try:
            await migrate(connection)
        finally:
            await connection.close()

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
def make_store_now(server: Cluster, empty_store: str) -> Iterator[Callable[..., str]]:
    """As `make_store`, where no event loop runs; gives the DSN."""
    made: list[str] = []

    def make(*snapshots: Snapshot) -> str:
        dbname = f"test_{next(_NUMBERS)}"
        execute_now(server.dsn(), f"CREATE DATABASE {dbname} TEMPLATE {empty_store}")
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
        await _execute(server.dsn(), f"CREATE ROLE {role} {options}")
        made.append(role)
        return role

    yield make
    for role in reversed(made):
        await _execute(server.dsn(), f"DROP ROLE {role}")


async def _execute(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
