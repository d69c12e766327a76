"""What the page reads and calls, as SQL: keys, search, failed questions, approvals."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import asyncpg
import pytest

from engine.app.question_store import Questions
from engine.learn.store import LearningStore, NewExample
from engine.values.learned import ExampleKind, Vote
from engine.values.settings import LearningSettings
from pgparley.cluster import Cluster
from tests.support.page_site import PASSWORD, PageSite, save
from tests.support.statements import connected, fetch


@pytest.fixture
async def steward(site: PageSite, server: Cluster) -> AsyncIterator[asyncpg.Connection]:
    async with connected(site.dsn, user=site.roles["steward"], password=PASSWORD) as connection:
        yield connection


async def test_keys_are_those_of_the_newest_snapshot(steward: asyncpg.Connection, site: PageSite) -> None:
    rows = await steward.fetch(
        'SELECT "table", kind, columns, to_table, to_columns FROM nl_catalog.keys ORDER BY 1, 2'
    )
    assert [tuple(row) for row in rows] == [
        ("customers", "primary", ["id"], None, None),
        ("orders", "foreign", ["customer"], "customers", ["id"]),
        ("orders", "primary", ["id"], None, None),
    ]
    await fetch(site.dsn, "UPDATE pgparley.database SET newest = NULL WHERE name = 'sales'")
    assert await steward.fetch("SELECT FROM nl_catalog.keys") == []


async def found(connection: asyncpg.Connection, words: str | None, most: int = 50) -> list[str]:
    return [
        row[0] for row in await connection.fetch("SELECT element FROM nl_catalog.search($1, $2)", words, most)
    ]


async def test_a_search_gives_the_nearest_first(steward: asyncpg.Connection) -> None:
    await steward.execute(
        "SELECT nl_catalog.describe('sales.customers.name', 'as in orders'), nl_catalog.add_synonym('sales', 'orders')"
    )
    await steward.execute("SELECT nl_catalog.describe('sales.orders.id', 'its number')")
    assert await found(steward, " ORDERS ") == [
        "sales.public.orders",
        "sales",
        "sales.public.customers.name",
        "sales.public.orders.customer",
        "sales.public.orders.id",
        "sales.public.orders.net",
    ]
    assert await found(steward, "orders", 2) == ["sales.public.orders", "sales"]
    assert await found(steward, "number its") == ["sales.public.orders.id"]
    assert await found(steward, "salaries") == await found(steward, "") == await found(steward, None) == []
    assert await found(steward, "%") == await found(steward, "_") == await found(steward, "\\") == []
    assert await found(steward, "orders", -1) == []


async def test_a_correction_shows_which_word_meant_what(steward: asyncpg.Connection, site: PageSite) -> None:
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        questions = Questions(pool)
        await save(questions, "q8", "Revenue by customer?", "sales")
        reply = await questions.get("q8", "ana")
        await questions.corrected(reply, "sales", "SELECT sum(net) FROM orders")
        vote = Vote("revenue", ("public", "orders", "net"), ("public", "orders", "id"), 1.0)
        example = NewExample(
            "ana", "sales", "Revenue by customer?", "SELECT 1", ExampleKind.CORRECTED, "q8", (vote,)
        )
        await LearningStore(pool, LearningSettings()).keep([example])
    row = await steward.fetchrow(
        "SELECT outcome, database, sql, words, nearest FROM nl_catalog.failed_questions WHERE question LIKE 'Revenue%'"
    )
    assert tuple(row or ()) == (
        *("corrected", "sales", "SELECT sum(net) FROM orders", ["revenue"], ["sales.public.orders.net"]),
    )


async def test_a_question_that_expired_is_gone(steward: asyncpg.Connection, site: PageSite) -> None:
    assert len(await steward.fetch("SELECT FROM nl_catalog.failed_questions")) == 3
    await fetch(site.dsn, "UPDATE pgparley.question SET expires_at = now() - interval '1 s'")
    assert await steward.fetch("SELECT FROM nl_catalog.failed_questions") == []


async def test_words_fail_also_where_no_database_came_near(site: PageSite) -> None:
    line = {"stage": "route", "event": "nothing stands for", "detail": "punter"}
    known = {"stage": "link", "event": "nothing stands for", "detail": "sales: turnover"}
    reply = json.dumps({"trace": [line, known, line]}).replace("'", "''")
    rows = await fetch(site.dsn, f"SELECT word, nearest FROM pgparley.failed_words('{reply}') ORDER BY word")
    assert [tuple(row) for row in rows] == [("punter", None), ("turnover", None)]


async def test_who_is_an_admin_may_change(steward: asyncpg.Connection, site: PageSite) -> None:
    assert await steward.fetchval("SELECT nl_catalog.is_admin()") is False
    await fetch(site.dsn, f"GRANT nl_admin TO {site.roles['steward']}")
    try:
        assert await steward.fetchval("SELECT nl_catalog.is_admin()") is True
        seen = await steward.fetch("SELECT database FROM nl_catalog.learned")
    finally:
        await fetch(site.dsn, f"REVOKE nl_admin FROM {site.roles['steward']}")
    assert {row[0] for row in seen} == {"sales", "hr"}


async def test_helpers_are_nobodys_to_call(steward: asyncpg.Connection) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await steward.fetch("SELECT * FROM pgparley.failed_words('{}')")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await steward.execute("SELECT pgparley.set_approval(1, 'x')")
