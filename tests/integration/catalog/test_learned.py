"""What users taught, as a DBA sees, shares and forgets it by `nl_catalog`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from engine.learn.store import AdapterTraining, LearningStore, NewExample
from engine.values.learned import ExampleKind, Vote
from engine.values.settings import LearningSettings
from schema_catalog.types import Snapshot
from tests.integration.catalog.conftest import MakeDatabase
from tests.support.statements import connected

VOTE = Vote("name", ("public", "t", "stage"), ("public", "t", "name"), 1.0)


async def teach(dsn: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        store = LearningStore(pool, LearningSettings())
        for number, (user, kind, sql) in enumerate(
            [
                ("ana", ExampleKind.CHOSEN, "SELECT stage FROM t"),
                ("ana", ExampleKind.REJECTED, "SELECT 1 FROM t"),
                ("bob", ExampleKind.CORRECTED, "SELECT 'x' FROM t"),
            ],
            1,
        ):
            votes = () if kind is ExampleKind.REJECTED else (VOTE,)
            await store.keep(
                [NewExample(user, "music", f"question {number}", sql, kind, f"q{number}", votes)]
            )
        await store.keep_adapter(AdapterTraining("", 30, b"\0" * 8, 0.4, 0.7, "used"))
        await store.keep_adapter(
            AdapterTraining("", 60, None, 0.7, 0.6, "dropped: 60% of the held-out votes")
        )
        await store.keep_adapter(AdapterTraining("ana", 30, b"\0" * 8, 0.5, 0.6, "used"))


@pytest.fixture
async def dba(make_store: MakeDatabase) -> AsyncIterator[asyncpg.Connection]:
    dsn = (await make_store(Snapshot("music", ("public",), ()))).dsn
    await teach(dsn)
    async with connected(dsn) as connection:
        yield connection


async def listed(dba: asyncpg.Connection, where: str = "true") -> list[int]:
    rows = await dba.fetch(f"SELECT example FROM nl_catalog.learned WHERE {where} ORDER BY 1")
    return [row["example"] for row in rows]


PENDING = "approved_at IS NULL AND kind <> 'rejected'"


async def test_what_was_taught_is_listed_with_what_it_says_of_words(dba: asyncpg.Connection) -> None:
    assert await listed(dba) == [1, 2, 3]
    assert await listed(dba, "asker = 'ana'") == [1, 2]
    assert await listed(dba, PENDING) == [1, 3]
    preferences = await dba.fetchval("SELECT preferences FROM nl_catalog.learned WHERE example = 1")
    assert preferences == ['"name": public.t.stage rather than public.t.name']


async def test_approve_revoke_forget(dba: asyncpg.Connection) -> None:
    await dba.execute("SELECT nl_catalog.approve(1), nl_catalog.approve(3)")
    assert await listed(dba, PENDING) == []
    assert await dba.fetchval("SELECT generation FROM pgparley.learning_version") == "1/1"
    for wrong in ("approve(2)", "revoke_approval(9)", "forget(9)"):
        with pytest.raises(asyncpg.UndefinedObjectError):
            await dba.execute(f"SELECT nl_catalog.{wrong}")
    await dba.execute("SELECT nl_catalog.revoke_approval(3)")
    assert await listed(dba, PENDING) == [3]
    await dba.execute("SELECT nl_catalog.forget(example) FROM nl_catalog.learned WHERE asker = 'ana'")
    assert await listed(dba) == [3]


async def adapters(dba: asyncpg.Connection) -> dict[int, bool]:
    return {
        row["version"]: row["used"]
        for row in await dba.fetch("SELECT version, used FROM nl_catalog.adapters")
    }


async def test_an_adapter_that_was_dropped_is_said_so_and_one_in_use_can_be_withdrawn(
    dba: asyncpg.Connection,
) -> None:
    assert await adapters(dba) == {1: True, 2: False, 3: True}
    verdict = "SELECT verdict FROM nl_catalog.adapters WHERE version = $1"
    assert await dba.fetchval(verdict, 2) == "dropped: 60% of the held-out votes"
    await dba.execute("SELECT nl_catalog.withdraw_adapter(3)")
    assert await adapters(dba) == {1: True, 2: False, 3: False}
    assert await dba.fetchval(verdict, 3) == "withdrawn"
    with pytest.raises(asyncpg.UndefinedObjectError):
        await dba.execute("SELECT nl_catalog.withdraw_adapter(9)")
