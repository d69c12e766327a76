"""Statements that a test runs on a server beside what it tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest


@asynccontextmanager
async def connected(dsn: str, **options: Any) -> AsyncIterator[Any]:
    """A connection, closed at the end."""
    connection = await asyncpg.connect(dsn, **options)
    try:
        yield connection
    finally:
        await connection.close()


async def execute(dsn: str, *statements: str) -> None:
    """Runs one after the other on a connection of their own."""
    async with connected(dsn) as connection:
        for statement in statements:
            await connection.execute(statement)


async def fetch(dsn: str, query: str) -> list[asyncpg.Record]:
    """The rows of a query on a connection of its own."""
    async with connected(dsn) as connection:
        return list(await connection.fetch(query))


async def refused(call: Awaitable[object], error: type[asyncpg.PostgresError]) -> asyncpg.PostgresError:
    """The error of a bad call, which says what was wrong and what to do."""
    with pytest.raises(error) as caught:
        await call
    assert caught.value.detail
    assert caught.value.hint
    return caught.value


async def change_nothing(connection: Any, calls: Mapping[type[asyncpg.PostgresError], Sequence[str]]) -> None:
    """Calls of nl_catalog end with their error, which says what to do, and take back what was said beside them."""
    for error, call in ((error, call) for error, some in calls.items() for call in some):
        problem: asyncpg.PostgresError | None = None
        try:
            await connection.execute(f"SELECT nl_catalog.describe('sales', 'x'), nl_catalog.{call}")
        except asyncpg.PostgresError as found:
            problem = found
        assert type(problem) is error, (call, problem)
        assert problem.detail, call
        assert problem.hint, call
    assert await connection.fetchval("SELECT count(*) FROM nl_catalog.history") == 0


def execute_now(dsn: str, *statements: str) -> None:
    """As `execute`, where no event loop runs."""
    asyncio.run(execute(dsn, *statements))


def fetch_now(dsn: str, query: str) -> list[asyncpg.Record]:
    """As `fetch`, where no event loop runs."""
    return asyncio.run(fetch(dsn, query))
