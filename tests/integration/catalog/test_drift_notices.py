"""Who is told of drift: a steward by a NOTICE, who refreshes by the command's output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from typer.testing import CliRunner

from pgparley.catalog_commands import catalog_app
from schema_catalog.types import Database
from tests.integration.catalog.conftest import MakeRole, read_anew
from tests.support.statements import connected

RENAME = "ALTER TABLE orders RENAME COLUMN net TO amount"


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
async def session(own_store: Database) -> AsyncIterator[Callable[[str], Awaitable[Session]]]:
    async with AsyncExitStack() as stack:

        async def connect(role: str) -> Session:
            connection = await stack.enter_async_context(connected(own_store.dsn))
            await connection.execute(f"SET ROLE {role}")
            return Session(connection)

        yield connect


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


async def test_a_refresh_prints_the_renames_that_it_proposes(
    shop: Any, pool: Any, own_store: Database
) -> None:
    await pool.execute("SELECT nl_catalog.describe('sales.orders.net', 'net of returns')")
    await shop.execute(RENAME)
    app = catalog_app(lambda: own_store.dsn)
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
