"""What people asked and the catalog misses: one reading, for the page's ★ list and for `pgparley check`."""

from __future__ import annotations

import asyncpg

from engine.app.question_store import Questions
from pgparley.check.answers import check_answers, explains
from pgparley.check.finding import Outcome
from pgparley.config import load
from schema_catalog.gaps import Gap, GapKind, gaps
from tests.integration.page.conftest import Visit
from tests.support.allowed_values import keep
from tests.support.page_site import PageSite, save
from tests.support.statements import connected, execute


async def found(site: PageSite) -> dict[tuple[str, GapKind], list[Gap]]:
    async with connected(site.dsn) as connection:
        return {(each.database, each.kind): list(each.all) for each in await gaps(connection, explains)}


async def ask(site: PageSite, qid: str, question: str, sql: str) -> None:
    """A question that `sql` answers."""
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        await save(Questions(pool), qid, question, "sales")
        await pool.execute(
            "UPDATE pgparley.question SET reply = jsonb_set(reply, '{rows,0,sql}', to_jsonb($2::text))"
            " WHERE qid = $1",
            *(qid, sql),
        )


async def test_a_question_is_one_entry_and_a_stop_word_none(site: PageSite) -> None:
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        await save(Questions(pool), "q7", "Turnover of the west?", "sales", word="the")
        # It misses two words, of which more questions miss the second.
        await save(Questions(pool), "q8", "Margin and turnover?", "sales", word="turnover")
        trace = '[{"stage": "link", "event": "nothing stands for", "detail": "sales: margin"}]'
        await pool.execute(
            "UPDATE pgparley.question SET reply = jsonb_set(reply, '{trace}', reply -> 'trace' || $1::jsonb)"
            " WHERE qid = 'q8'",
            trace,
        )
    words = (await found(site))["sales", GapKind.WORD]
    assert [(each.what, each.questions) for each in words] == [("turnover", 3)]
    statement = "SELECT nl_catalog.add_synonym('sales.public.orders.net', 'turnover')"
    assert words[0].statement == statement
    await execute(site.dsn, statement)
    assert [each.what for each in (await found(site))["sales", GapKind.WORD]] == ["margin"]


async def test_what_is_asked_about_is_what_statements_name(site: PageSite) -> None:
    assert ("sales", GapKind.TABLE) not in await found(site), "customers has a comment"
    await ask(site, "q7", "Orders of Acme?", 'SELECT o.id FROM "public"."orders" AS o')
    await ask(site, "q8", "orders of acme", 'SELECT o.net FROM "public"."orders" AS o')
    await ask(site, "q9", "Orders of Bolt?", 'SELECT o.net FROM "public"."orders" AS o')
    tables = (await found(site))["sales", GapKind.TABLE]
    assert [(each.what, each.questions, each.path) for each in tables] == [
        ("sales.public.orders", 2, ("public", "orders"))
    ]
    await execute(site.dsn, tables[0].statement)
    assert ("sales", GapKind.TABLE) not in await found(site)


async def test_values_that_nobody_allowed_and_codes_that_nothing_explains(site: PageSite) -> None:
    assert ("sales", GapKind.VALUES) not in await found(site)
    await ask(site, "q7", "How many are active?", "SELECT count(*) FROM customers WHERE status = 'A'")
    await ask(site, "q8", "Who is Joe?", "SELECT id FROM customers WHERE name = 'Joe'")
    values = (await found(site))["sales", GapKind.VALUES]
    assert [each.what for each in values] == ["sales.public.customers.status"], "names of people are no gap"
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        await keep(pool, "sales", ("public", "customers", "status"), "A", "I")
    after = await found(site)
    assert ("sales", GapKind.VALUES) not in after
    codes = after["sales", GapKind.CODES]
    assert [each.what for each in codes] == ["sales.public.customers.status"], "“A or I” cannot be read"
    await execute(
        site.dsn, "SELECT nl_catalog.describe('sales.customers.status', 'A = active, I = inactive')"
    )
    assert ("sales", GapKind.CODES) not in await found(site)


async def test_the_check_advises_and_fails_nothing(site: PageSite) -> None:
    await ask(site, "q7", "Orders of Acme?", "SELECT o.id FROM orders AS o")
    await execute(site.dsn, "SELECT nl_catalog.set_rules('sales', 'Test customers do not count.')")
    async with connected(site.dsn) as connection:
        said = [each async for each in check_answers(load(None, {}), connection)]
    assert {each.outcome for each in said} == {Outcome.WARNING}
    by_words = {f"{each.check}: {each.found}": each.action for each in said}
    assert by_words[
        "answers of sales: 1 table that is asked about and not described: sales.public.orders (1 question)"
    ] == ("SELECT nl_catalog.describe('sales.public.orders', 'a row for each …');")
    assert "define_term('sales'" in by_words["house rules of sales: the model gets none of them"]


async def test_a_steward_sees_the_gaps_of_the_databases_that_are_open(visit: Visit, site: PageSite) -> None:
    await ask(site, "q7", "Orders of Acme?", "SELECT o.id FROM orders AS o")
    text = await (await visit("steward")).text("/")
    assert "★" in text
    assert "turnover" in text
    assert "/table?database=sales&amp;schema=public&amp;table=orders" in text
    assert "“pay”" not in text
    assert "“pay”" in await (await visit("admin")).text("/")


async def test_the_page_of_questions_has_each_once(visit: Visit, site: PageSite) -> None:
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        await save(Questions(pool), "q7", "Turnover of the west?", "sales", word="the")
        await save(Questions(pool), "q8", "Margin and turnover?", "sales", word="turnover")
        trace = '[{"stage": "link", "event": "nothing stands for", "detail": "sales: margin"}]'
        await pool.execute(
            "UPDATE pgparley.question SET reply = jsonb_set(reply, '{trace}', reply -> 'trace' || $1::jsonb)"
            " WHERE qid = 'q8'",
            trace,
        )
    text = await (await visit("steward")).text("/questions")
    assert text.count("<summary>Margin and turnover?") == 1
    assert "“the”" not in text
    assert "“margin”" not in text
    assert "<summary>Turnover of the west?" in text
