"""Statements that a test runs on a server beside what it tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import asyncpg
import pytest


async def execute(dsn: str, *statements: str) -> None:
    """Runs one after the other on a connection of their own."""
    connection = await asyncpg.connect(dsn)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def fetch(dsn: str, query: str) -> list[asyncpg.Record]:
    """The rows of a query on a connection of its own."""
    connection = await asyncpg.connect(dsn)
    try:
        return list(await connection.fetch(query))
    finally:
        await connection.close()


async def refused(call: Awaitable[object], error: type[asyncpg.PostgresError]) -> asyncpg.PostgresError:
    """The error of a bad call, which says what was wrong and what to do."""
    with pytest.raises(error) as caught:
        await call
    assert caught.value.detail
    assert caught.value.hint
    return caught.value


def execute_now(dsn: str, *statements: str) -> None:
    """As `execute`, where no event loop runs."""
    asyncio.run(execute(dsn, *statements))


def fetch_now(dsn: str, query: str) -> list[asyncpg.Record]:
    """As `fetch`, where no event loop runs."""
    return asyncio.run(fetch(dsn, query))
