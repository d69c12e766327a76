"""One server with the golden shop, its roles, and the engine's way to it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.settings import UpstreamSettings
from pgparley.cluster import Cluster
from schema_catalog.logins import make_login
from schema_catalog.pg import Connection
from schema_catalog.types import Database
from tests.conftest import Postgres

GOLDEN = Path(__file__).parents[2] / "golden"

ROLES = """
CREATE ROLE catalog LOGIN;
CREATE ROLE ana LOGIN;
CREATE ROLE "Bob ""B" LOGIN;
CREATE ROLE stranger;
GRANT SELECT ON customers, orders, order_items TO ana;
GRANT SELECT (id, name) ON products TO ana;
GRANT SELECT ON customers TO "Bob ""B";
"""


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("upstream") as running:
        yield running


@pytest.fixture
async def admin(server: Cluster) -> AsyncIterator[Connection]:
    """A superuser's connection to a new database that holds the shop."""
    postgres = await asyncpg.connect(server.dsn())
    await postgres.execute("CREATE DATABASE shop")
    connection = await asyncpg.connect(server.dsn("shop"))
    await connection.execute((GOLDEN / "guard" / "schema.sql").read_text("utf-8"))
    await connection.execute(ROLES)
    yield connection
    await connection.close()
    await postgres.execute("DROP DATABASE shop WITH (FORCE)")
    await postgres.execute('DROP ROLE catalog, ana, "Bob ""B", stranger')
    await postgres.close()


@pytest.fixture
def shop(server: Cluster, admin: Connection) -> Database:
    """Registered with the role `catalog`; ana and Bob have a login there, stranger has none."""
    database = Database("shop", server.dsn("shop", "catalog"), "shop", ("public",))
    return replace(database, logins=tuple(make_login(database, asker) for asker in ('Bob "B', "ana")))


@pytest.fixture
async def databases() -> AsyncIterator[Databases]:
    made = Databases(UpstreamSettings(pool_size=2, statement_timeout=20, privileges_ttl=60))
    yield made
    await made.aclose()


@pytest.fixture
def deadline() -> Deadline:
    return Deadline(time.monotonic() + 30)
