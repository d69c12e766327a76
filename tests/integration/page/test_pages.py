"""What admin, steward and reader see and change on the page: all of it as PostgreSQL decides."""

from __future__ import annotations

import html
import re

import asyncpg

from engine.app.question_store import Questions
from page.actions import ACTIONS
from tests.integration.page.conftest import Visit
from tests.support.page_site import MARKUP, PageSite, save
from tests.support.statements import connected, execute, fetch

TABLE = "/table?database=sales&schema=public&table=customers"
COLUMN = "/column?database=sales&schema=public&table=orders&column=net"


async def test_an_admin_sees_all_databases_and_a_steward_theirs(visit: Visit) -> None:
    admin, steward = await visit("admin"), await visit("steward")
    for path in ("/", "/health", "/learned"):
        assert "hr" in re.findall(r"\bhr\b", await admin.text(path)), path
        assert re.findall(r"\bhr\b", await steward.text(path)) == [], path
    assert "salaries" in await admin.text("/search?words=salaries")
    assert "Nothing has" in await steward.text("/search?words=salaries")
    for path in ("/database?database=hr", "/table?database=hr&schema=public&table=salaries"):
        assert (await admin.get(path)).status == 200
        assert (await steward.get(path)).status == 404


async def test_a_database_is_drawn_with_its_joins(visit: Visit) -> None:
    text = await (await visit("admin")).text("/database?database=sales")
    assert "orders (customer) refers to customers (id)" in text
    boxes = re.findall(r'<a href="(/table[^"]+)"><title>(\w+)[^<]*</title><rect', text)
    assert sorted(name for _, name in boxes) == ["customers", "notes", "orders"]
    assert (await (await visit("admin")).get(html.unescape(boxes[0][0]))).status == 200


async def test_the_picture_shows_descriptions_and_every_kind_of_join(visit: Visit, site: PageSite) -> None:
    await execute(
        site.dsn,
        "SELECT nl_catalog.describe('sales.orders', 'one line for each thing that was <b>ordered</b>'),"
        " nl_catalog.declare_join('sales.orders.net', 'sales.customers.id');"
        "INSERT INTO pgparley.proposed_join (database, element, evidence)"
        " VALUES ('sales', '{Old Stuff,notes,name,public,customers,name}', 'all values occur')",
    )
    text = await (await visit("steward")).text("/database?database=sales")
    assert re.findall(r'<path class="join (\w+)"', text) == ["key", "declared", "proposed"]
    assert "<title>orders: one line for each thing that was &lt;b&gt;ordered&lt;/b&gt;</title>" in text
    assert re.search(r'class="note"[^>]+>one line for each thing t…<', text)


async def test_the_picture_is_searched(visit: Visit) -> None:
    steward = await visit("steward")

    async def drawn(words: str) -> list[tuple[str, str]]:
        text = await steward.text(f"/database?database=sales&find={words}")
        assert f'value="{words}"' in text
        return re.findall(r'<a( class="found")? href="/table[^"]+"><title>(\w+)', text)

    found = ' class="found"'
    assert sorted(await drawn("net")) == [("", "customers"), (found, "orders")]
    assert await drawn("notes") == [(found, "notes")]
    assert await drawn("salaries") == []


async def test_the_first_page_says_what_to_do_next(visit: Visit, site: PageSite) -> None:
    await execute(
        site.dsn,
        "SELECT nl_catalog.define_term('sales', 'a', 'customers.id = 1');"
        "UPDATE pgparley.definition SET state = 'refused'",
    )
    steward = await visit("steward")
    items = re.findall(r'<li><a href="([^"]+)">(.*?)</a>', await steward.text("/"))
    steps = [(html.unescape(to), words) for to, words in items if "=sales" in to]
    assert steps == [
        ("/health?database=sales#refused", "1 definition that is refused"),
        ("/learned?database=sales", "1 thing that a user taught"),
        ("/health?database=sales#lacking-1", "2 tables without a description"),
    ]
    assert 'id="next"' not in await (await visit("reader")).text("/")


async def test_a_whole_table_is_described_at_once(visit: Visit, site: PageSite) -> None:
    steward, page = await visit("steward"), TABLE.replace("customers", "orders")
    fields = [
        ("token", await steward.token()),
        ("back", page),
        *(("element", f"sales.public.orders.{name}") for name in ("id", "customer", "net", "gone")),
        *(("was", each) for each in ("", "", "", "")),
        *(("description", each) for each in ("its number", "", "net of\r\nreturns", "x")),
        *(("synonyms", each) for each in ("", "who bought, buyer", "", "")),
    ]
    refused = await steward.post_all("/words", fields)
    assert refused.status == 422
    assert "orders.gone" in refused.text
    assert "4 saved." in refused.text
    rows = await fetch(site.dsn, "SELECT element, description, synonyms FROM nl_catalog.said ORDER BY 1")
    assert [tuple(row) for row in rows] == [
        ("sales.public.orders.customer", None, ["who bought", "buyer"]),
        ("sales.public.orders.id", "its number", []),
        ("sales.public.orders.net", "net of\nreturns", []),
    ]
    assert (await steward.post_all("/words", [("token", "x"), *fields[1:]])).status == 403
    same = await steward.post_all("/words", [*fields[:2], fields[2], ("was", "a"), ("description", "a")])
    assert same.status == 303
    assert "Nothing new was typed." in await steward.text(page)
    assert "<textarea" not in await (await visit("reader")).text(page)


async def test_models_and_budgets_are_seen(visit: Visit, site: PageSite) -> None:
    await execute(
        site.dsn,
        "SELECT nl_catalog.set_quota('public', 100), nl_catalog.set_budget('public', 4000);"
        "INSERT INTO pgparley.token_use (day, asker, questions, prefilled, cached, generated)"
        " VALUES (pgparley.today(), 'ana', 3, 900, 50, 100)",
    )
    admin = await (await visit("admin")).text("/models")
    for shown in ("https://models.example/v1", "&lt;b&gt;small&lt;/b&gt;", "in the engine", "25 % of 4,000"):
        assert shown in admin
    assert re.search(r'public</th><td class="number">100</td><td class="number">4,000', admin)
    assert "ana" not in await (await visit("steward")).text("/models")


async def test_what_is_typed_is_said_and_shown(visit: Visit, site: PageSite) -> None:
    steward = await visit("steward")
    done = await steward.do(
        "describe", COLUMN, element="sales.public.orders.net", description="net of returns"
    )
    assert (done.status, done.location) == (303, COLUMN)
    await steward.do("add_synonym", COLUMN, element="sales.public.orders.net", synonym="turnover")
    text = await steward.text(COLUMN)
    assert "The synonym was added." in text
    assert "The synonym was added." not in await steward.text(COLUMN)
    shown = "net of returns</textarea>", "turnover", "COMMENT ON says otherwise: net amount"
    for each in (*shown, site.roles["steward"]):
        assert each in text
    assert ">net of returns</textarea>" in await steward.text(TABLE.replace("customers", "orders"))
    version = (await fetch(site.dsn, "SELECT min(version) FROM nl_catalog.history"))[0][0]
    await steward.do("restore", COLUMN, version=str(version))
    await steward.do("hide", COLUMN, element="sales.public.orders.net")
    assert "Show to questions" in await steward.text(COLUMN)
    rows = await fetch(site.dsn, "SELECT description, synonyms, hidden FROM nl_catalog.said")
    assert [tuple(row) for row in rows] == [("net of returns", [], True)]
    assert {row[0] for row in await fetch(site.dsn, "SELECT changed_by FROM nl_catalog.history")} == {
        site.roles["steward"]
    }


async def test_attributes_are_said_and_taken_back_where_they_stand(visit: Visit, site: PageSite) -> None:
    steward = await visit("steward")
    said = {
        "status": "deprecated",
        "sensitivity": "sensitive",
        "unit": "EUR",
        "time_zone": "Europe/Berlin",
        "key": "unique",
    }
    for name, value in said.items():
        done = await steward.do(
            "set_attribute", COLUMN, element="sales.public.orders.net", attribute=name, value=value
        )
        assert (done.status, done.location) == (303, COLUMN), name
    text = await steward.text(COLUMN)
    for value in ("deprecated", "sensitive", "unique"):
        assert f"<option selected>{value}</option>" in text
    assert 'value="EUR"' in text
    assert "key unique" in text
    orders = await steward.text(TABLE.replace("customers", "orders"))
    assert "status deprecated, sensitivity sensitive, unit EUR, time zone Europe/Berlin, key unique" in orders
    assert 'id="attribute-status"' in orders
    assert 'id="attribute-unit"' not in orders
    wrong = await steward.do(
        "set_attribute", COLUMN, element="sales.public.orders.net", attribute="time_zone", value="Mars"
    )
    assert (wrong.status, "a name of pg_timezone_names" in wrong.text) == (422, True)
    for name in said:
        await steward.do(
            "set_attribute", COLUMN, element="sales.public.orders.net", attribute=name, value=" "
        )
    assert await fetch(site.dsn, "SELECT FROM nl_catalog.said") == []


async def test_a_database_is_registered_and_read_again_by_an_engine_that_is_asked(
    visit: Visit, site: PageSite
) -> None:
    admin, steward = await visit("admin"), await visit("steward")
    await admin.do("register", database="postgres")
    assert "An engine registers it in a second or two." in await admin.text("/")
    assert "Register a database" not in await steward.text("/")
    assert (await steward.do("register", database="postgres")).status == 403
    await admin.do("unregister", database="postgres")
    assert await fetch(site.dsn, "SELECT FROM nl_catalog.registrations") == []
    assert (await steward.do("refresh", database="sales")).status == 303
    assert "waits for an engine to read its schema" in await steward.text("/")


async def test_definitions_come_and_go(visit: Visit, site: PageSite) -> None:
    steward, page = await visit("steward"), "/database?database=sales"
    await steward.do(
        "define_term", page, database="sales", term="active", definition="customers.status = 'A'"
    )
    verified = {"question": "How many?", "sql": "SELECT count(*)\r\nFROM orders", "tags": "kpi, daily"}
    await steward.do("verify", page, database="sales", **verified)
    ends = {"from_column": "sales.orders.net", "to_column": "sales.customers.id"}
    await steward.do("declare_join", page, **ends, cardinality="many-to-one")
    text = await steward.text(page)
    shown = "customers.status = &#39;A&#39;", "SELECT count(*)\nFROM orders", "daily, kpi"
    for each in (*shown, "unchecked", "declared"):
        assert each in text
    await steward.do("drop_term", page, database="sales", term="active")
    await steward.do("revoke", page, database="sales", question="how many")
    await steward.do(
        "drop_join", page, from_column="sales.public.orders.net", to_column="sales.public.customers.id"
    )
    assert await fetch(site.dsn, "SELECT FROM pgparley.definition") == []


async def test_what_cannot_be_done_is_said_with_what_was_typed(visit: Visit) -> None:
    steward = await visit("steward")
    long = await steward.do("describe", COLUMN, element="sales.public.orders.net", description="x" * 2001)
    assert long.status == 422
    assert "2000 are allowed" in long.text
    assert "x" * 2001 in long.text
    gone = await steward.do("add_synonym", element="sales.orders.nett", synonym="a")
    assert "is no table or column of database" in gone.text
    foreign = await steward.do("describe", element="hr.salaries", description="mine")
    assert "is not registered, or not open to you" in html.unescape(foreign.text)
    assert (await steward.do("restore", version="1; DROP TABLE x")).status == 422
    assert (await steward.do("describe", element="sales", description="y" * 20001)).status == 422
    assert (await steward.post("/do/drop_schema", token=await steward.token())).status == 404


async def test_a_reader_reads_what_they_were_given_and_changes_nothing(visit: Visit, site: PageSite) -> None:
    reader = await visit("reader")
    home = await reader.get("/")
    assert f"{site.roles['reader']}, reader" in home.text
    assert "sales" in home.text
    assert re.findall(r"\bhr\b", home.text) == []
    for path in ("/questions", "/learned", "/search?words=net"):
        refused = await reader.get(path)
        assert refused.status == 403
        assert "A member of nl_steward or nl_admin may" in refused.text
    forbidden = await reader.do("describe", element="sales.orders", description="mine")
    assert forbidden.status == 403
    assert "GRANT nl_steward" in forbidden.text
    assert await fetch(site.dsn, "SELECT FROM nl_catalog.history") == []


async def test_markup_in_comments_and_descriptions_is_text(visit: Visit) -> None:
    admin = await visit("admin")
    await admin.do("describe", element="sales.public.orders", description=MARKUP)
    await admin.do("add_synonym", element="sales.public.orders", synonym="<b>sold</b>")
    await admin.do("define_term", database="sales", term="<i>t</i>", definition="</pre><script>1</script>")
    await admin.do(
        "verify", database="sales", question="<u>q</u>", sql="</textarea><script>2</script>", tags="<s>"
    )
    for path in ("/", "/database?database=sales", TABLE, TABLE.replace("customers", "orders"), "/health"):
        text = await admin.text(path)
        for tag in ("<script", "<img", "<b>", "<i>", "<u>", "<s>", 'onerror="'):
            assert tag not in text, (path, tag)
    assert html.escape(MARKUP, quote=False)[:30] in await admin.text(TABLE)
    searched = await admin.text("/search?words=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script" not in searched


async def test_search_finds_by_name_description_and_synonym(visit: Visit) -> None:
    admin = await visit("admin")
    await admin.do("add_synonym", element="sales.public.orders.net", synonym="100% turnover_")
    for words in ("NET", "net amount", "turnover_", "100%", "amount net"):
        assert "sales.orders.net" in await admin.text(f"/search?words={words.replace('%', '%25')}"), words
    assert "Nothing has" in await admin.text("/search?words=turnoverx")
    assert "Type words" in await admin.text("/search")


async def test_health_says_what_is_lacking(visit: Visit, site: PageSite) -> None:
    admin = await visit("admin")
    await admin.do("describe", element="sales.public.orders.net", description="net of returns")
    text = await admin.text("/health?database=sales")
    for title in (
        "Words of questions that nothing stands for: 1",
        "nearest sales.public.orders.net",
        "Tables without a description: 2",
        "Columns without a description: 6",
        "Names that stand for several things: 2",
        "Tables without a key: 1",
        "Tables that nothing joins: 1",
        "Comments that are not taken over: 1",
        "Definitions that the database refuses: 0",
    ):
        assert title in text
    places = re.findall(r">(\w+\.\w+)</a> <span", text.partition("Columns without a description")[2])
    assert places[:2] == ["notes.Text", "notes.name"]
    await execute(
        site.dsn,
        "UPDATE pgparley.question SET reply = replace(reply::text, 'orders.net', 'customers.name')::jsonb",
    )
    text = await admin.text("/health?database=sales")
    places = re.findall(r">(\w+\.\w+)</a> <span", text.partition("Columns without a description")[2])
    assert places[:2] == ["customers.name", "notes.Text"]
    await admin.do("describe", element="sales.public.orders.net", description="net amount")
    assert "Comments that are not taken over: 0" in await admin.text("/health?database=sales")


async def test_failed_questions_stand_by_the_word_and_are_mended(visit: Visit, site: PageSite) -> None:
    steward = await visit("steward")
    text = await steward.text("/questions")
    assert re.search(r'“turnover” <span class="count">2\W', text)
    assert 'value="sales.public.orders.net"' in text
    assert "How many active customers are there?" in text
    assert "these are all customers" in text
    assert "Nearest statement:</p>\n<pre>SELECT &#39;turnover&#39;</pre>" in text
    assert "worse" not in text
    assert "pay" not in text
    assert "ana" not in re.findall(r"\w+", text)
    assert "Who earns most pay?" in await (await visit("admin")).text("/questions")
    assert "mended" not in text
    await steward.do("add_synonym", element="sales.public.orders.net", synonym="turnover")
    await steward.do(
        "verify", database="sales", question="How many active customers are there?", sql="SELECT 1", tags=""
    )
    mended = await steward.text("/questions")
    assert "A synonym of sales.public.orders.net by now" in mended
    assert mended.count('class="state checked">mended') == 2


async def test_who_wants_a_stewards_word_is_named(visit: Visit, site: PageSite) -> None:
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        await save(Questions(pool), "q7", "Turnover by year?", "sales", word="turnover", send=True)
        await save(Questions(pool), "q8", "Pay by year?", "hr", word="pay", send=True)
        await Questions(pool).none_fits("q4", "ana", "only the active", send=True)
    text = await (await visit("steward")).text("/questions")
    assert text.count("ana waits for an answer") == 2
    assert "<pre>SELECT count(*) FROM customers</pre>" in text
    assert "judge: SELECT &#39;worse&#39;: behind it" in text
    assert "link:" not in text
    assert "Pay by year?" not in text


async def test_a_question_about_two_databases_is_for_who_sees_both(visit: Visit, site: PageSite) -> None:
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        question = "q7", "What about the secret merger?", "hr"
        await save(Questions(pool), *question, word="merger", nearest="salaries.amount")
        await pool.execute(
            "UPDATE pgparley.question SET reply = jsonb_set(reply, '{trace}', reply -> 'trace' || $1::jsonb)"
            " WHERE qid = 'q7'",
            '[{"stage": "route", "event": "database", "detail": "sales; tables x"}]',
        )
    assert "secret merger" in await (await visit("admin")).text("/questions")
    assert "merger" not in await (await visit("steward")).text("/questions")


async def test_a_page_changes_nothing_when_it_is_read(visit: Visit, site: PageSite) -> None:
    """Reading happens in a transaction that cannot write, whatever a view may call."""
    await execute(
        site.dsn,
        "CREATE OR REPLACE FUNCTION pgparley.open_databases() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS"
        " $$ INSERT INTO pgparley.learning_version DEFAULT VALUES RETURNING 'sales' $$",
    )
    answer = await (await visit("admin")).get("/")
    assert answer.status == 503
    assert "ReadOnlySQLTransactionError" in answer.text


async def test_every_action_calls_a_function_that_there_is(site: PageSite) -> None:
    async with connected(site.dsn) as connection:
        rows = await connection.fetch(
            "SELECT proname, proargnames FROM pg_proc WHERE pronamespace = 'nl_catalog'::regnamespace"
        )
        for name, action in ACTIONS.items():
            statement = await connection.prepare(action.sql)
            assert len(statement.get_parameters()) == len(action.fields), name
            assert dict(rows)[name][: len(action.fields)] == [field.name for field in action.fields]
