"""Who is told of drift: a steward by a NOTICE, who refreshes by the command's output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from pgparley.catalog_commands import catalog_app
from schema_catalog.refresh import ConnectSettings, refresh
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database
from tests.integration.catalog.conftest import MakeDatabase, MakeRole

RENAME = "ALTER TABLE orders RENAME COLUMN net TO amount"


@pytest.fixture
async def store(make_store: MakeDatabase) -> Database:
    return await make_store()


@pytest.fixture
async def pool(store: Database) -> AsyncIterator[asyncpg.Pool]:
    async with asyncpg.create_pool(store.dsn, min_size=1, max_size=3) as opened:
        yield opened


@pytest.fixture
async def shop(make_database: MakeDatabase, pool: asyncpg.Pool) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the registered database sales, of which a snapshot was taken."""
    made = await make_database("CREATE TABLE orders (id int, net numeric)")
    await CatalogStore(pool).add(Database("sales", made.dsn, made.dbname, ("public",)))
    await read_anew(pool)
    connection = await asyncpg.connect(made.dsn)
    yield connection
    await connection.close()


async def read_anew(pool: asyncpg.Pool) -> None:
    store = CatalogStore(pool)
    await refresh(store, (await store.get("sales")).database, ConnectSettings())


class Session:
    """A session of `role`, with the messages that it was sent."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.told: list[Any] = []
        connection.add_log_listener(lambda _, message: self.told.append(message))

    async def reads(self, sql: str = "SELECT FROM nl_catalog.tables") -> list[str]:
        """The messages of that statement."""
        before = len(self.told)
        await self.connection.execute(sql)
        return [message.message for message in self.told[before:]]


@pytest.fixture
async def session(store: Database, pool: Any) -> AsyncIterator[Callable[[str], Awaitable[Session]]]:
    opened = []

    async def connect(role: str) -> Session:
        opened.append(await asyncpg.connect(store.dsn))
        await opened[-1].execute(f"SET ROLE {role}")
        return Session(opened[-1])

    yield connect
    for each in opened:
        await each.close()


async def test_an_admin_is_told_once_a_session(
    shop: Any, pool: Any, session: Any, make_role: MakeRole
) -> None:
    role = await make_role("LOGIN IN ROLE nl_admin")
    admin = await session(role)
    assert await admin.reads() == []
    await shop.execute(RENAME)
    await read_anew(pool)
    assert await admin.reads() == [
        "renames that wait for a decision: 1; joins, terms and verified queries that are refused: 0"
    ]
    assert admin.told[-1].detail == "In sales."
    assert "nl_catalog.drift" in admin.told[-1].hint
    assert await admin.reads() == []
    await pool.execute("SELECT nl_catalog.decline_rename(id) FROM nl_catalog.drift")
    assert await (await session(role)).reads() == []


async def test_a_steward_is_told_of_open_databases_and_a_reader_never(
    shop: Any, pool: Any, session: Any, make_role: MakeRole
) -> None:
    await shop.execute(RENAME)
    await read_anew(pool)
    steward, reader = await make_role("LOGIN IN ROLE nl_steward"), await make_role()
    await pool.execute(f"GRANT USAGE ON SCHEMA nl_catalog TO {reader}")
    await pool.execute(f"GRANT SELECT ON nl_catalog.tables TO {reader}")
    ours = await session(steward)
    assert await ours.reads() == []
    for role in (steward, reader):
        await pool.execute(f"SELECT nl_catalog.grant_database('sales', '{role}')")
    call = "SELECT nl_catalog.describe('sales.orders', 'sold')"
    assert len(await ours.reads(call)) == 1
    assert await (await session(reader)).reads() == []
    await pool.execute(f"DROP OWNED BY {reader}")


async def test_what_the_schema_broke_is_told_too(
    shop: Any, pool: Any, session: Any, make_role: MakeRole
) -> None:
    await pool.execute("SELECT nl_catalog.define_term('sales', 'turnover', 'sum(orders.net)')")
    await pool.execute("UPDATE pgparley.definition SET state = 'refused', reason = 'no such column'")
    admin = await session(await make_role("LOGIN IN ROLE nl_admin"))
    told = await admin.reads("BEGIN READ ONLY; SELECT FROM nl_catalog.terms; COMMIT")
    assert [message.endswith("refused: 1") for message in told] == [True]


async def test_a_refresh_prints_the_renames_that_it_proposes(shop: Any, pool: Any, store: Database) -> None:
    await pool.execute("SELECT nl_catalog.describe('sales.orders.net', 'net of returns')")
    await shop.execute(RENAME)
    app = catalog_app(lambda: store.dsn)
    for first in ("sales: 2 changes", "sales: unchanged"):
        result = await asyncio.to_thread(CliRunner().invoke, app, ["refresh", "sales"])
        assert result.exit_code == 0
        assert result.output.startswith(first)
        assert (
            "? column public.orders.net may be public.orders.amount now: the server has them" in result.output
        )
        assert "breaks knowledge of sales.public.orders.net" in result.output
        number = await pool.fetchval("SELECT id FROM nl_catalog.drift")
        assert f"nl_catalog.accept_rename({number})" in result.output
