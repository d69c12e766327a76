"""Statements on a real server that run out of time, are cancelled, or lose their connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

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


@pytest.fixture
async def burning(
    shop: Database, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Databases]:
    """Whose guard lets everything through, and which has read its rules."""
    monkeypatch.setattr("engine.upstream.databases.check", lambda sql, _rules: Allowed(analyse(sql)))
    made = Databases(UpstreamSettings(overdue_per_asker=2, pool_size=2))
    await made.explain(shop, ANA, "SELECT 1", deadline)
    yield made
    await made.aclose()


async def both_run_out(verb: Callable[..., Awaitable[object]], shop: Database) -> None:
    soon = Deadline(time.monotonic() + 0.5)
    outcomes = await asyncio.gather(
        *(verb(shop, ANA, BURNING, soon) for _ in range(2)), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} == {CancelledError}


async def test_what_does_not_stop_is_left_and_counted(
    burning: Databases, shop: Database, deadline: Deadline
) -> None:
    await both_run_out(burning.plan, shop)
    assert burning.overdue == 2
    with pytest.raises(QuotaError) as caught:
        await burning.run(shop, ANA, "SELECT 1", 1, deadline, chosen=True)
    assert caught.value.sqlstate == "53400"
    # Nobody else waits for them.
    assert (await burning.run(shop, BOB, "SELECT 1", 1, deadline, chosen=True)).rows == (("1",),)
    while burning.overdue == 2:
        await burning.run(shop, BOB, "SELECT 1", 1, Deadline(time.monotonic() + 10))
    # The asker's own next statement waits for the last of them, in the lane of those who ran out of time.
    soon = Deadline(time.monotonic() + 20)
    assert (await burning.run(shop, ANA, "SELECT 1", 1, soon, chosen=True)).rows == (("1",),)
    assert burning.overdue == 0


async def test_what_the_engine_tries_for_a_question_refuses_its_asker_nothing(
    burning: Databases, shop: Database, deadline: Deadline
) -> None:
    await both_run_out(burning.explain, shop)
    assert burning.overdue == 2
    # What the asker chooses runs at once; what is tried for the next question waits, and is not refused.
    assert (await burning.run(shop, ANA, "SELECT 1", 1, deadline, chosen=True)).rows == (("1",),)
    assert burning.overdue == 2
    with pytest.raises(CancelledError):
        await burning.run(shop, ANA, "SELECT 1", 1, Deadline(time.monotonic() + 0.1))
    await burning.explain(shop, ANA, "SELECT 1", deadline)
    assert burning.overdue == 0
