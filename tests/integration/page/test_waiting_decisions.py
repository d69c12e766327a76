"""What waits for a decision on the page: what users taught, proposed joins and renames, what the model says."""

from __future__ import annotations

import html
import re

import pytest

from tests.integration.page.conftest import Visit
from tests.support.page_site import PageSite
from tests.support.statements import execute, fetch

DATABASE = "/database?database=sales"
TABLE = "/table?database=sales&schema=public&table=orders"
COLUMN = "/column?database=sales&schema=public&table=orders&column=net"
NET = "sales.public.orders.net"


async def test_learned_examples_are_approved_and_revoked(visit: Visit, site: PageSite) -> None:
    steward = await visit("steward")
    text = await steward.text("/learned")
    assert "revenue in sales" in text
    assert "revenue in hr" not in text
    assert "public.orders.net rather than public.orders.id" in html.unescape(text)
    numbers = dict(await fetch(site.dsn, "SELECT database, id FROM pgparley.learned_example"))
    await steward.do("approve", "/learned", example=str(numbers["sales"]))
    assert f"approved by {site.roles['steward']}" in await steward.text("/learned")
    assert (await steward.do("approve", example=str(numbers["hr"]))).status == 422
    await steward.do("revoke_approval", "/learned", example=str(numbers["sales"]))
    rows = await fetch(site.dsn, "SELECT approved_at, approved_by FROM pgparley.learned_example")
    assert {tuple(row) for row in rows} == {(None, None)}


async def test_a_proposed_join_is_decided_on_and_a_declared_one_shown(visit: Visit, site: PageSite) -> None:
    await execute(
        site.dsn,
        "INSERT INTO pgparley.proposed_join (database, element, evidence) SELECT d, e, 'all <b>values</b> occur'"
        " FROM unnest('{sales,hr}'::text[]) AS d,"
        " (VALUES ('{public,orders,net,public,customers,id}'::text[]),"
        "         ('{public,orders,id,public,customers,id}')) AS v (e)",
    )
    steward, page = await visit("steward"), "/database?database=sales"
    table = "/table?database=sales&schema=public&table=orders"
    for each in (page, table):
        assert (await steward.text(each)).count("all &lt;b&gt;values&lt;/b&gt; occur") == 2
    ends = {"from_column": "sales.public.orders.net", "to_column": "sales.public.customers.id"}
    assert (await steward.do("accept_join", page, **ends)).status == 303
    ends["from_column"] = "sales.public.orders.id"
    assert (await steward.do("decline_join", page, **ends)).status == 303
    for each in (page, table):
        text = await steward.text(each)
        assert "<code>sales.public.orders.net</code> refers to <code>sales.public.customers.id</code>" in text
        assert "values&lt;/b&gt;" not in text
    ends = {"from_column": "hr.public.orders.net", "to_column": "hr.public.customers.id"}
    assert (await steward.do("accept_join", page, **ends)).status in {403, 422}


async def test_a_proposed_rename_is_decided_on(visit: Visit, site: PageSite) -> None:
    change = (
        "INSERT INTO pgparley.drift (database, what, kind, old, new, detail, breaks, state)"
        " VALUES ('{}', 'renamed', 'column', '{{public,orders,amount}}', '{{public,orders,net}}', 'the same number',"
        """ '[{{"kind": "term", "key": "x", "shown": "term <b>turnover</b>"}}]', 'proposed')"""
    )
    await execute(site.dsn, change.format("sales"), change.format("hr"))
    steward = await visit("steward")
    text = await steward.text("/drift")
    for shown in ("→", "the same number", "term &lt;b&gt;turnover&lt;/b&gt;", "proposed"):
        assert shown in text
    assert re.findall(r"\bhr\b", text) == []
    numbers = dict(await fetch(site.dsn, "SELECT database, id FROM pgparley.drift"))
    assert (await steward.do("decline_rename", id=str(numbers["hr"]))).status in {403, 422}
    done = await steward.do("decline_rename", "/drift", id=str(numbers["sales"]))
    assert (done.status, done.location) == (303, "/drift")
    assert f"declined by {site.roles['steward']}" in await steward.text("/drift")
    states = dict(await fetch(site.dsn, "SELECT database, state FROM pgparley.drift"))
    assert states == {"sales": "declined", "hr": "proposed"}


async def test_suggestions_are_decided_on(visit: Visit, site: PageSite) -> None:
    suggestion = (
        "INSERT INTO pgparley.suggestion (database, element, kind, suggestion)"
        " VALUES ('{0}', '{{public,{1}}}', 'synonym', 'a <b>word</b>'),"
        " ('{0}', '{{public,{1}}}', 'description', 'what it is')"
    )
    for database, table in (("sales", "orders"), ("hr", "salaries")):
        await execute(site.dsn, suggestion.format(database, table))
    steward = await visit("steward")
    text = await steward.text("/suggestions")
    for shown in ("sales.public.orders", "a &lt;b&gt;word&lt;/b&gt;", "what it is", "Accept", "Decline"):
        assert shown in text
    assert re.findall(r"\bhr\b", text) == []
    rows = await fetch(site.dsn, "SELECT database, kind, id FROM pgparley.suggestion")
    numbers = {(database, kind): str(number) for database, kind, number in rows}
    assert (await steward.do("accept_suggestion", id=numbers["hr", "synonym"])).status in {403, 422}
    done = await steward.do("accept_suggestion", "/suggestions", id=numbers["sales", "description"])
    assert (done.status, done.location) == (303, "/suggestions")
    await steward.do("decline_suggestion", "/suggestions", id=numbers["sales", "synonym"])
    assert "Nothing waits for a decision." in await steward.text("/suggestions")
    rows = await fetch(site.dsn, "SELECT element, description, synonyms FROM nl_catalog.said")
    assert [tuple(row) for row in rows] == [("sales.public.orders", "what it is", [])]


async def test_what_is_not_declined_is_accepted_at_once(visit: Visit, site: PageSite) -> None:
    await execute(
        site.dsn,
        "INSERT INTO pgparley.suggestion (database, element, kind, suggestion)"
        " SELECT 'sales', ARRAY['public', 'customers', name], kind, kind || ' of ' || name"
        " FROM unnest('{id,name,status}'::text[]) AS name, unnest('{description,synonym}'::text[]) AS kind;"
        "SELECT nl_catalog.describe('sales.customers.id', 'mine');"
        "SELECT nl_catalog.decline_suggestion(id) FROM nl_catalog.suggestions WHERE suggestion = 'synonym of name'",
    )
    steward = await visit("steward")
    assert (await steward.do("accept_suggestions", "/suggestions", database="hr")).status == 422
    assert (await steward.do("accept_suggestions", "/suggestions", database="sales")).status == 303
    rows = await fetch(site.dsn, 'SELECT "column", description, synonyms FROM nl_catalog.said ORDER BY 1')
    assert [tuple(row) for row in rows] == [
        ("id", "mine", ["synonym of id"]),
        ("name", "description of name", []),
        ("status", "description of status", ["synonym of status"]),
    ]
    rows = await fetch(site.dsn, "SELECT suggestion FROM nl_catalog.suggestions WHERE state = 'proposed'")
    assert [tuple(row) for row in rows] == [("description of id",)]


@pytest.mark.usefixtures("made")
async def test_proposed_words_are_taken_and_dropped_where_they_stand(visit: Visit, site: PageSite) -> None:
    steward = await visit("steward")
    table, column = await steward.text(TABLE), await steward.text(COLUMN)
    for shown in ("&lt;b&gt;turnover&lt;/b&gt;", "takings", "Proposed words"):
        assert shown in table
        assert shown in column
    assert ("deal" in table, "deal" in column) == (True, False)
    assert "Proposed words" not in await steward.text(TABLE.replace("orders", "customers"))
    assert "Proposed words" not in await steward.text(COLUMN.replace("net", "id"))
    done = await steward.do("adopt_synonym", COLUMN, element=NET, phrase="takings")
    assert (done.status, done.location) == (303, COLUMN)
    assert "The word is a synonym now." in await steward.text(COLUMN)
    await steward.do("decline_synonym", COLUMN, element=NET, phrase="<b>turnover</b>")
    await steward.do("decline_synonym", TABLE, element="sales.public.orders", phrase="deal")
    for page in (TABLE, COLUMN):
        text = await steward.text(page)
        assert ("takings" in text, "turnover" in text, "Proposed words" in text) == (True, False, False)
    rows = await fetch(site.dsn, "SELECT element, synonyms FROM nl_catalog.said")
    assert [tuple(row) for row in rows] == [(NET, ["takings"])]
    again = await steward.do("adopt_synonym", COLUMN, element=NET, phrase="takings")
    assert (again.status, "is not proposed for" in again.text) == (422, True)


@pytest.mark.usefixtures("made")
async def test_made_questions_are_put_in_other_words_and_dropped(visit: Visit, site: PageSite) -> None:
    steward = await visit("steward")
    text = await steward.text(DATABASE)
    first, rest = text.split("<summary>and 2 more</summary>")
    assert [
        len(re.findall('what was &lt;i&gt;sold&lt;/i&gt; in 200[1-7]" auto', part)) for part in (first, rest)
    ] == [5, 2]
    numbers = dict(await fetch(site.dsn, "SELECT question, id FROM pgparley.made_question"))
    second = str(numbers["what was <i>sold</i> in 2002"])
    await steward.do("edit_made_question", DATABASE, id=second, question="which deals were closed")
    await steward.do(
        "edit_made_question", DATABASE, id=str(numbers["what was <i>sold</i> in 2001"]), question=""
    )
    text = await steward.text(DATABASE)
    assert f"in the words of {site.roles['steward']}" in text
    assert ("which deals were closed" in text, "in 2001" in text) == (True, False)
    assert "<summary>and 1 more</summary>" in text
    await steward.do("drop_made", DATABASE, database="sales")
    assert "Made questions" not in await steward.text(DATABASE)
    assert "Proposed words" not in await steward.text(TABLE)
    rows = await fetch(site.dsn, "SELECT question FROM pgparley.made_question")
    assert [tuple(row) for row in rows] == [("who earns most",)]


@pytest.mark.usefixtures("made")
async def test_what_a_model_said_is_for_those_who_may_decide_on_it(visit: Visit, site: PageSite) -> None:
    number = (await fetch(site.dsn, "SELECT id FROM pgparley.made_question WHERE question ~ 'earns'"))[0][0]
    ours = (await fetch(site.dsn, "SELECT min(id) FROM pgparley.made_question"))[0][0]
    views = "keys, joins, proposed_joins, terms, verified_queries, history".replace(", ", ", nl_catalog.")
    await execute(site.dsn, f"GRANT SELECT ON nl_catalog.{views} TO {site.roles['reader']}")
    reader, steward = await visit("reader"), await visit("steward")
    for page in (DATABASE, TABLE, COLUMN):
        shown = await reader.get(page)
        assert shown.status == 200
        for word in ("Proposed words", "Made questions", "turnover", "takings", "deal", "sold"):
            assert word not in shown.text, page
    calls: dict[str, dict[str, str]] = {
        "adopt_synonym": {"element": NET, "phrase": "takings"},
        "decline_synonym": {"element": NET, "phrase": "takings"},
        "edit_made_question": {"id": str(ours), "question": "mine"},
        "drop_made": {"database": "sales"},
    }
    for name, fields in calls.items():
        assert (await reader.do(name, **fields)).status == 403, name
        assert (await steward.post(f"/do/{name}", token="of another", **fields)).status == 403, name
    foreign = {
        "adopt_synonym": {"element": "hr.public.salaries", "phrase": "pay"},
        "decline_synonym": {"element": "hr.public.salaries", "phrase": "pay"},
        "edit_made_question": {"id": str(number), "question": ""},
        "drop_made": {"database": "hr"},
    }
    for name, fields in foreign.items():
        assert (await steward.do(name, **fields)).status == 422, name
    counts = "SELECT (SELECT count(*) FROM pgparley.made_question), (SELECT count(*) FROM nl_catalog.proposed_synonyms)"
    assert [tuple(row) for row in await fetch(site.dsn, counts)] == [(8, 4)]
    assert await fetch(site.dsn, "SELECT FROM nl_catalog.said") == []
