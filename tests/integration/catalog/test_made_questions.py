"""What a language model says of a schema: kept by table set, in the snapshot, changed by those who may."""

from __future__ import annotations

from dataclasses import replace

import asyncpg
import pytest

from schema_catalog.catalog import CachedCatalog
from schema_catalog.made_store import Made, MadeStore
from schema_catalog.store import CatalogStore
from schema_catalog.types import MadeQuestion, Snapshot
from tests.integration.catalog.conftest import MakeRole, read_anew
from tests.support.statements import refused

ORDERS, CUSTOMERS = ("public", "orders"), ("public", "customers")
READS = ((*ORDERS, "cust_no"), (*ORDERS, "net"), (*CUSTOMERS, "no"))
MADE = Made(
    (CUSTOMERS, ORDERS),
    READS,
    ("what did we turn over", "who buys most"),
    {ORDERS: ("deal", "sale"), (*ORDERS, "net"): ("turnover",)},
)


@pytest.fixture
async def made(shop: asyncpg.Connection, pool: asyncpg.Pool) -> MadeStore:
    store = MadeStore(pool)
    await store.keep("sales", MADE, "f1", "a model")
    return store


async def shown(pool: asyncpg.Pool) -> Snapshot:
    ((_, snapshot),) = await CachedCatalog(CatalogStore(pool)).entries()
    return snapshot


async def listed(pool: asyncpg.Pool) -> list[str]:
    rows = await pool.fetch("SELECT question FROM nl_catalog.made_questions ORDER BY id")
    return [row["question"] for row in rows]


async def words(pool: asyncpg.Pool) -> dict[str, list[str]]:
    rows = await pool.fetch(
        "SELECT element, array_agg(phrase ORDER BY phrase) FROM nl_catalog.proposed_synonyms GROUP BY 1"
    )
    return dict(map(tuple, rows))


async def number(pool: asyncpg.Pool, question: str) -> int:
    return int(await pool.fetchval("SELECT id FROM nl_catalog.made_questions WHERE question = $1", question))


async def test_they_join_the_snapshot_apart_from_what_is_said(made: MadeStore, pool: asyncpg.Pool) -> None:
    await pool.execute("SELECT nl_catalog.add_synonym('sales.orders', 'Deal')")
    snapshot = await shown(pool)
    assert snapshot.made_questions == tuple(
        MadeQuestion(each, (CUSTOMERS, ORDERS), READS) for each in MADE.questions
    )
    (orders,) = (table for table in snapshot.tables if table.key == ORDERS)
    assert (orders.synonyms, orders.proposed_synonyms) == (("Deal",), ("sale",))
    assert [each.proposed_synonyms for each in orders.columns if each.name == "net"] == [("turnover",)]
    assert await pool.fetchval("SELECT count(*) FROM pgparley.knowledge_change") == 1


async def test_what_is_made_once_more_moves_nothing(made: MadeStore, pool: asyncpg.Pool) -> None:
    async def moves(again: Made) -> int:
        before = await pool.fetchval("SELECT version FROM pgparley.catalog_version")
        await made.keep("sales", again, "other", "a model")
        return int(await pool.fetchval("SELECT version FROM pgparley.catalog_version")) - int(before)

    questions = (await shown(pool)).made_questions
    assert await moves(MADE) == 0
    assert (await shown(pool)).made_questions == questions
    # Those who may not read what it saw this time are not to see them.
    assert await moves(replace(MADE, reads=MADE.reads[:1])) > 0
    assert {each.reads for each in (await shown(pool)).made_questions} == {MADE.reads[:1]}
    assert await moves(replace(MADE, reads=MADE.reads[:1], questions=MADE.questions[:1])) > 0
    assert [each.question for each in (await shown(pool)).made_questions] == [MADE.questions[0]]
    assert await moves(replace(MADE, reads=MADE.reads[:1], questions=MADE.questions)) > 0


async def test_a_database_is_asked_about_by_one_for_a_time(made: MadeStore, pool: asyncpg.Pool) -> None:
    async with made.alone("sales", 60) as first:
        async with made.alone("sales", 60) as second:
            assert (first, second) == (True, False)
        async with made.alone("sales", 60) as second:
            assert not second
        await pool.execute("UPDATE pgparley.asking_ahead SET until = now() - interval '1 second'")
        later = made.alone("sales", 60)
        assert await later.__aenter__()
    # Who was too long takes nothing from who came after.
    async with made.alone("sales", 60) as third:
        assert not third
    await later.__aexit__(None, None, None)
    async with made.alone("sales", 60) as third:
        assert third


async def test_every_change_is_seen_at_the_next_question(made: MadeStore, pool: asyncpg.Pool) -> None:
    catalog = CachedCatalog(CatalogStore(pool))
    seen = set()
    for change in (
        "SELECT",
        f"SELECT nl_catalog.edit_made_question({await number(pool, 'who buys most')}, 'best clients')",
        "SELECT nl_catalog.decline_synonym('sales.orders', 'SALE')",
        "SELECT nl_catalog.adopt_synonym('sales.orders.net', 'turnover')",
        "SELECT nl_catalog.drop_made('sales')",
    ):
        await pool.execute(change)
        ((_, snapshot),) = await catalog.entries()
        seen.add(snapshot.fingerprint)
    assert len(seen) == 5


async def test_who_cannot_read_all_of_its_tables_sees_no_made_question(
    made: MadeStore, pool: asyncpg.Pool
) -> None:
    snapshot = await shown(pool)
    readable = frozenset((*table.key, column.name) for table, column in snapshot.columns())
    assert len(snapshot.restricted_to(readable).made_questions) == 2
    assert len(snapshot.restricted_to(readable - {(*ORDERS, "id")}).made_questions) == 2
    for gone in READS:
        assert snapshot.restricted_to(readable - {gone}).made_questions == ()


@pytest.mark.parametrize(
    "change",
    [
        "SELECT nl_catalog.hide('sales.orders.net')",
        "SELECT nl_catalog.hide('sales.customers')",
        "SELECT nl_catalog.set_attribute('sales.orders.net', 'sensitivity', 'masked')",
    ],
)
async def test_nothing_is_made_of_what_a_dba_keeps_back(
    made: MadeStore, pool: asyncpg.Pool, change: str
) -> None:
    await pool.execute(change)
    assert (await shown(pool)).made_questions == ()


async def test_a_verified_question_joins_them_for_those_who_may_read_what_it_reads(
    made: MadeStore, pool: asyncpg.Pool
) -> None:
    for question in ("Net of all?", "Net of {who: 7}?"):
        await pool.execute("SELECT nl_catalog.verify('sales', $1, 'SELECT sum(net) FROM orders')", question)
    await pool.execute(
        "UPDATE pgparley.definition SET state = 'checked',"
        """ reads = '[["public","orders"],["public","orders","net"]]'"""
    )
    snapshot = await shown(pool)
    assert snapshot.made_questions[0] == MadeQuestion("Net of all?", (ORDERS,), ((*ORDERS, "net"),))
    assert len(snapshot.made_questions) == 3


async def test_a_question_is_edited_and_dropped(made: MadeStore, pool: asyncpg.Pool) -> None:
    edit = "SELECT nl_catalog.edit_made_question($1, $2)"
    await pool.execute(edit, await number(pool, "who buys most"), " our best\n clients ")
    await pool.execute(edit, await number(pool, "what did we turn over"), None)
    assert await listed(pool) == ["our best clients"]
    by = await pool.fetchval("SELECT edited_by FROM nl_catalog.made_questions")
    assert by == "postgres"
    await refused(pool.execute(edit, 0, "x"), asyncpg.UndefinedObjectError)
    await refused(
        pool.execute(edit, await number(pool, "our best clients"), "x" * 501),
        asyncpg.InvalidParameterValueError,
    )


async def test_a_word_is_adopted_as_a_persons_or_declined_for_good(
    made: MadeStore, pool: asyncpg.Pool
) -> None:
    await pool.execute("SELECT nl_catalog.adopt_synonym('sales.orders', 'Deal')")
    await pool.execute("SELECT nl_catalog.decline_synonym('sales.orders', 'sale')")
    assert await words(pool) == {"sales.public.orders.net": ["turnover"]}
    assert await pool.fetchval("SELECT synonyms FROM nl_catalog.said") == ["deal"]
    await refused(
        pool.execute("SELECT nl_catalog.adopt_synonym('sales.orders', 'sale')"), asyncpg.UndefinedObjectError
    )
    await made.keep("sales", MADE, "f2", "a model")
    assert await words(pool) == {"sales.public.orders.net": ["turnover"]}


async def test_asking_anew_replaces_what_the_model_said_and_nothing_that_a_person_did(
    made: MadeStore, pool: asyncpg.Pool
) -> None:
    await pool.execute(
        "SELECT nl_catalog.edit_made_question($1, 'best clients')", await number(pool, "who buys most")
    )
    anew = Made(MADE.tables, READS, ("what is our margin",), {ORDERS: ("contract",)})
    await made.keep("sales", anew, "f2", "another model")
    assert await listed(pool) == ["best clients", "what is our margin"]
    assert await words(pool) == {
        "sales.public.orders": ["contract"],
        "sales.public.orders.net": ["turnover"],
    }
    assert await made.asked("sales") == {MADE.tables: "f2"}
    await made.keep("sales", Made((ORDERS,), (), (), {}), "f3", "another model")
    await made.prune("sales", [(ORDERS,)])
    assert await listed(pool) == ["best clients"]
    assert set(await made.asked("sales")) == {MADE.tables, (ORDERS,)}


async def test_words_for_what_is_gone_go_with_it(
    shop: asyncpg.Connection, made: MadeStore, pool: asyncpg.Pool
) -> None:
    await shop.execute("ALTER TABLE orders DROP COLUMN net")
    await read_anew(pool)
    assert (await shown(pool)).made_questions == ()
    await made.prune("sales", [MADE.tables])
    assert set(await words(pool)) == {"sales.public.orders"}


async def test_only_admins_and_stewards_of_the_database_see_and_change_them(
    made: MadeStore, pool: asyncpg.Pool, make_role: MakeRole
) -> None:
    asker, steward = await make_role(), await make_role()
    await pool.execute(f"GRANT nl_steward TO {steward}")
    edit = f"SELECT nl_catalog.edit_made_question({await number(pool, 'who buys most')}, 'best clients')"
    calls = (
        edit,
        "SELECT nl_catalog.adopt_synonym('sales.orders', 'deal')",
        "SELECT nl_catalog.decline_synonym('sales.orders', 'sale')",
        "SELECT nl_catalog.drop_made('sales')",
    )
    reads = [f"SELECT FROM nl_catalog.{view}" for view in ("made_questions", "proposed_synonyms")]
    async with pool.acquire() as connection:
        await connection.execute(f"SET ROLE {asker}")
        for call in (*calls, *reads):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(call)
        await connection.execute(f"RESET ROLE; SET ROLE {steward}")
        for view in reads:
            assert await connection.fetch(view) == []
        for call in calls:
            with pytest.raises((asyncpg.UndefinedObjectError, asyncpg.InvalidCatalogNameError)):
                await connection.execute(call)
        await connection.execute(
            f"RESET ROLE; SELECT nl_catalog.grant_database('sales', '{steward}'); SET ROLE {steward}"
        )
        for call in calls:
            await connection.execute(call)
        await connection.execute("RESET ROLE")
    assert await listed(pool) == []
