"""Statements on a real server that run out of time, are cancelled, or lose their connection."""

from __future__ import annotations

import asyncio
import time

import pytest

from engine.guard import Allowed
from engine.guard.analyse import analyse
from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, DatabaseUnavailableError, QuotaError
from engine.values.messages import Asker
from engine.values.ports import StatementError
from engine.values.settings import UpstreamSettings
from schema_catalog.pg import Connection
from schema_catalog.types import Database

ANA = Asker("ana", "shop")
BOB = Asker('Bob "B', "shop")
ENDLESS = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r"
ENDLESS_ACTIVITY = """FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
                      AND query LIKE '%UNION ALL SELECT 1 FROM r%'"""


async def test_explain_runs_nothing(databases: Databases, shop: Database, deadline: Deadline) -> None:
    await databases.explain(shop, ANA, ENDLESS, deadline)


async def test_a_statement_ends_with_its_deadline(databases: Databases, shop: Database) -> None:
    with pytest.raises(CancelledError) as caught:
        await databases.run(shop, ANA, ENDLESS, 1, Deadline(time.monotonic() + 0.4))
    assert caught.value.sqlstate == "57014"
    with pytest.raises(CancelledError):
        await databases.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() - 1))


async def test_a_statement_ends_with_its_own_timeout(shop: Database, deadline: Deadline) -> None:
    hurried = Databases(UpstreamSettings(statement_timeout=2.0))
    with pytest.raises(CancelledError, match="statement timeout"):
        await hurried.run(shop, ANA, ENDLESS, 1, deadline)
    await hurried.aclose()


async def test_a_locked_table_is_not_waited_for(
    shop: Database, admin: Connection, deadline: Deadline
) -> None:
    hurried = Databases(UpstreamSettings(lock_timeout=0.1))
    async with admin.transaction():
        await admin.execute("LOCK TABLE customers")
        with pytest.raises(StatementError) as caught:
            await hurried.explain(shop, ANA, "SELECT 1 FROM customers", deadline)
    assert caught.value.sqlstate == "55P03"
    await hurried.aclose()


async def test_a_cancelled_caller_cancels_the_statement(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    running = f"SELECT count(*) {ENDLESS_ACTIVITY}"
    task = asyncio.create_task(databases.run(shop, ANA, ENDLESS, 1, deadline), name="endless")
    while not await admin.fetchval(running):
        pass
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while await admin.fetchval(running):
        pass
    assert (await databases.run(shop, ANA, "SELECT 1", 1, deadline)).rows == (("1",),)


async def test_a_lost_connection_is_replaced(
    databases: Databases, shop: Database, admin: Connection, deadline: Deadline
) -> None:
    task = asyncio.create_task(databases.run(shop, ANA, ENDLESS, 1, deadline), name="endless")
    kill = f"SELECT count(pg_terminate_backend(pid)) {ENDLESS_ACTIVITY}"
    while not await admin.fetchval(kill):
        pass
    with pytest.raises(DatabaseUnavailableError):
        await task
    assert (await databases.run(shop, ANA, "SELECT 1", 1, deadline)).rows == (("1",),)


BURNING = "SELECT translate(lpad('', 16000, 'a'), lpad('', 16000, 'b'), '')"
"""Planned for seconds, in a function over constants that never looks whether it should stop."""


async def test_what_does_not_stop_is_left_and_counted(
    shop: Database, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.upstream.databases.check", lambda sql, _rules: Allowed(analyse(sql)))
    databases = Databases(UpstreamSettings(overdue_per_asker=2, pool_size=2))
    soon = Deadline(time.monotonic() + 0.5)
    burning = (databases.explain(shop, ANA, BURNING, soon) for _ in range(2))
    outcomes = await asyncio.gather(*burning, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {CancelledError}
    assert databases.overdue == 2
    with pytest.raises(QuotaError) as caught:
        await databases.run(shop, ANA, "SELECT 1", 1, deadline)
    assert caught.value.sqlstate == "53400"
    # Nobody else waits for them.
    assert (await databases.run(shop, BOB, "SELECT 1", 1, deadline)).rows == (("1",),)
    while databases.overdue == 2:
        await databases.run(shop, BOB, "SELECT 1", 1, Deadline(time.monotonic() + 10))
    # The asker's own next statement waits for the last of them, in the lane of those who ran out of time.
    assert (await databases.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() + 20))).rows == (("1",),)
    assert databases.overdue == 0
    await databases.aclose()
