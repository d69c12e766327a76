"""What waits for a decision on the page: what users taught, proposed joins and renames, suggestions of the model."""

from __future__ import annotations

import html
import re

from tests.integration.page.conftest import Visit
from tests.support.page_site import PageSite
from tests.support.statements import execute, fetch


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
