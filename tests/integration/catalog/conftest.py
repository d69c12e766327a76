"""One server for the catalog's tests, a fresh database for each test that asks for one."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import asyncpg
import pytest

from pgparley import cluster
from pgparley.cluster import Cluster
from schema_catalog.types import Database

_NUMBERS = itertools.count(1)

MakeDatabase = Callable[[str], Awaitable[Database]]
MakeRole = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = cluster.start(tmp_path_factory.mktemp("catalog") / "pg")
    yield running
    cluster.stop(running)


@pytest.fixture
async def make_database(server: Cluster, make_role: MakeRole) -> AsyncIterator[MakeDatabase]:
    """Creates a database that holds what the given SQL makes; dropped at the end.

    Takes `make_role` so that databases are dropped first, and with them what was granted in them.
    """
    made: list[str] = []

    async def make(sql: str) -> Database:
        dbname = f"test_{next(_NUMBERS)}"
        await _execute(server.dsn(), f"CREATE DATABASE {dbname}")
        made.append(dbname)
        await _execute(server.dsn(dbname), sql)
        return Database(dbname, server.dsn(dbname), dbname, ("public",))

    yield make
    for dbname in made:
        await _execute(server.dsn(), f"DROP DATABASE {dbname} WITH (FORCE)")


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
