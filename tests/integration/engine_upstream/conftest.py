"""One server with the golden shop, its roles, and the engine's way to it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.settings import UpstreamSettings
from pgparley.cluster import Cluster
from schema_catalog.logins import make_login
from schema_catalog.pg import Connection
from schema_catalog.types import Database
from tests.conftest import COPY, Postgres
from tests.support.statements import connected, execute_now

GOLDEN = Path(__file__).parents[2] / "golden"

ROLES = ("catalog LOGIN", "ana LOGIN", '"Bob ""B" LOGIN', "stranger")
GRANTS = """
GRANT SELECT ON customers, orders, order_items TO ana;
GRANT SELECT (id, name) ON products TO ana;
GRANT SELECT ON customers TO "Bob ""B";
"""


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> Iterator[Cluster]:
    """With the roles, and a template of the shop."""
    with postgres("upstream") as running:
        made = "CREATE DATABASE shop_template"
        execute_now(running.dsn(), *(f"CREATE ROLE {role}" for role in ROLES), made)
        schema = (GOLDEN / "guard" / "schema.sql").read_text("utf-8")
        execute_now(running.dsn("shop_template"), schema, GRANTS)
        yield running


@pytest.fixture
async def admin(server: Cluster) -> AsyncIterator[Connection]:
    """A superuser's connection to a new database that holds the shop."""
    async with connected(server.dsn()) as postgres:
        await postgres.execute(f"CREATE DATABASE shop TEMPLATE shop_template {COPY}")
        async with connected(server.dsn("shop")) as connection:
            yield connection
        await postgres.execute("DROP DATABASE shop WITH (FORCE)")
        await postgres.execute("ALTER ROLE ana RESET ALL")


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
