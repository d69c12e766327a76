"""Questions tried from the page: through a real gateway, as the person who is signed in, behind the server's walls."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from pgparley.cluster import Cluster
from tests.conftest import COPY
from tests.integration.page.conftest import Page, Visitor
from tests.integration.page.test_browser import BEYOND, signed_in, violations
from tests.support.chromium import chromium, missing
from tests.support.page_site import MARKUP, PASSWORD, ROLES, PageSite, browser, page_site
from tests.support.statements import execute, fetch
from tests.wire_fixtures import Gateway, loop_thread, start_gateway, wire_cluster

__all__ = ["loop_thread", "start_gateway", "wire_cluster"]

STEWARD = ROLES["steward"]
HERE = "/ask?database=sales"


@pytest.fixture
def gateway(start_gateway: Callable[..., Gateway], server: Cluster) -> Gateway:
    return start_gateway(upstream_host=str(server.socket_dir), upstream_port=server.port)


@pytest.fixture
async def asked(server: Cluster, gateway: Gateway) -> AsyncIterator[PageSite]:
    """A page beside that gateway; the server has a database of the name that the catalog knows."""
    await execute(server.dsn(), f"CREATE DATABASE page_asked TEMPLATE page_template {COPY}")
    await execute(server.dsn(), "CREATE DATABASE sales")
    await execute(server.dsn("sales"), "CREATE SEQUENCE counted; GRANT USAGE ON SEQUENCE counted TO PUBLIC")
    await execute(
        server.dsn(), f"CREATE ROLE clerk NOLOGIN; GRANT clerk TO {STEWARD}; CREATE ROLE boss NOLOGIN"
    )
    async with page_site(server.dsn("page_asked"), f"postgresql://127.0.0.1:{gateway.port}") as running:
        yield running
    await execute(server.dsn(), "DROP DATABASE page_asked WITH (FORCE)")
    await execute(server.dsn(), "DROP DATABASE sales WITH (FORCE)")
    await execute(server.dsn(), "DROP ROLE clerk, boss")


@pytest.fixture
async def steward(asked: PageSite) -> AsyncIterator[Visitor]:
    async with AsyncExitStack() as stack:
        visitor = Visitor(await stack.enter_async_context(browser()), asked.url)
        assert (await visitor.sign_in(STEWARD)).status == 303
        yield visitor


async def ask(visitor: Visitor, question: str, role: str = "", password: str = PASSWORD) -> Page:
    token = await visitor.token()
    fields = {"database": "sales", "question": question, "role": role, "password": password}
    return await visitor.post("/ask", token=token, **fields)


async def go_on(visitor: Visitor, step: str, n: int) -> str:
    """The page after the step, as a browser shows it."""
    done = await visitor.post(f"/ask/{step}", token=await visitor.token(), database="sales", n=str(n))
    return html.unescape(await visitor.text(done.location))


def cells(text: str) -> list[str]:
    rows = text.partition('id="rows"')[2].partition("</table>")[0]
    return re.findall(r"<td>(.*?)</td>", rows, re.DOTALL)


async def test_one_asks_as_oneself_or_as_a_role_that_the_server_lets_one_take(
    steward: Visitor, gateway: Gateway
) -> None:
    gateway.engine.statement = "SELECT session_user, current_user AS who"
    assert "Your password at the gateway" in await steward.text(HERE)
    answered = await ask(steward, f"how many {MARKUP}")
    assert (answered.status, answered.location) == (303, HERE)
    assert gateway.engine.asked[-1].asker.user == STEWARD
    text = await steward.text(HERE)
    assert "Your password" not in text, "it was asked once"
    assert "<script" not in text
    assert "1. candidate in sales" in text
    assert "it&#39;s sales" in text, "the trace"
    assert '<option value="clerk">' in text
    assert cells(await go_on(steward, "run", 1)) == [STEWARD, STEWARD]
    await ask(steward, "how many", role="clerk")
    assert "Answer as clerk" in await steward.text(HERE)
    assert cells(await go_on(steward, "run", 1)) == [STEWARD, "clerk"]
    await ask(steward, "how many", role="boss")
    assert 'permission denied to set role "boss"' in html.unescape(await steward.text(HERE))
    await ask(steward, "how many")
    assert cells(await go_on(steward, "run", 1)) == [STEWARD, STEWARD], "the role was taken back"


async def test_rows_are_cut_and_nothing_is_written(steward: Visitor, gateway: Gateway) -> None:
    gateway.engine.statement = (
        f"SELECT '{MARKUP}' AS a, repeat('x', 100000) AS a, NULL FROM generate_series(1, 99)"
    )
    await ask(steward, "how many")
    done = await steward.post("/ask/run", token=await steward.token(), database="sales", n="1")
    text = await steward.text(done.location)
    assert "There are more rows; the first 50 are shown." in text
    assert "<script" not in text
    found = cells(text)
    assert len(found) == 150
    assert found[1] == "x" * 300
    assert [each.learn for each in gateway.engine.chosen] == [True], "it was chosen once"
    gateway.engine.statement = "SELECT nextval('public.counted')"
    assert "read-only transaction" in await go_on(steward, "run", 1)


async def test_a_question_back_is_replied_to(steward: Visitor, gateway: Gateway) -> None:
    await ask(steward, "which name")
    text = await steward.text(HERE)
    assert text.count("This one") == 2
    assert "second option 2" in await go_on(steward, "reply", 2)
    assert "unknown" not in await go_on(steward, "run", 1)


async def test_what_has_no_answer_is_said(steward: Visitor) -> None:
    await ask(steward, "no route to this")
    text = await steward.text(HERE)
    assert "no database can answer this. None matched. Try another." in text
    assert 'id="answer"' not in text


async def test_nobody_asks_without_their_password(
    steward: Visitor, start_gateway: Callable[..., Gateway], wire_cluster: Cluster, asked: PageSite
) -> None:
    refused = await ask(steward, "how many", password="wrong")
    assert refused.status == 200
    assert "does not take this role and password" in refused.text
    assert ">how many</textarea>" in refused.text, "what was typed stands there"
    trusting = start_gateway()
    await execute(wire_cluster.dsn(), f"CREATE ROLE {STEWARD} LOGIN", "CREATE DATABASE sales")
    async with (
        page_site(asked.dsn, f"postgresql://127.0.0.1:{trusting.port}") as open_site,
        browser() as http,
    ):
        visitor = Visitor(http, open_site.url)
        await visitor.sign_in(STEWARD)
        assert "does not ask for your password" in (await ask(visitor, "how many")).text
        assert trusting.engine.asked == []


async def test_forms_of_others_ask_nothing(steward: Visitor, gateway: Gateway) -> None:
    fields = {"database": "sales", "question": "how many", "password": PASSWORD}
    before = len(gateway.engine.asked)
    assert (await steward.post("/ask", token="x", **fields)).status == 403
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    token = await steward.token()
    assert (await steward.post("/ask", elsewhere, token=token, **fields)).status == 403
    assert (await steward.post("/ask/run", token="x", database="sales", n="1")).status == 403
    assert len(gateway.engine.asked) == before
    closed = await steward.post("/ask", token=token, database="hr", question="how many", password=PASSWORD)
    assert closed.status == 404, "hr is not open to the steward"


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
async def test_the_answer_is_read_by_everybody(asked: PageSite, gateway: Gateway) -> None:
    gateway.engine.statement = "SELECT repeat('x', 400) AS a"
    async with chromium() as running:
        tab = await signed_in(await running.new_context(viewport={"width": 320, "height": 640}), asked)
        await tab.goto(asked.url + HERE)
        assert await violations(tab) == []
        await tab.get_by_label("Question").fill("how many")
        await tab.get_by_label("Your password").fill(PASSWORD)
        await tab.get_by_role("button", name="Ask").click()
        await tab.get_by_role("button", name="Run it number 1").click()
        assert await tab.locator("#rows").count() == 1
        await tab.get_by_text("How the answer came about").click()
        assert await violations(tab) == []
        assert await tab.evaluate(BEYOND) == []


async def test_signing_out_ends_the_connection(steward: Visitor, server: Cluster) -> None:
    count = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'sales' AND application_name = 'pgparley page'"
    )
    await ask(steward, "how many")
    assert [row[0] for row in await fetch(server.dsn(), count)] == [1]
    await steward.post("/sign-out", token=await steward.token())
    for _ in range(200):
        if [row[0] for row in await fetch(server.dsn(), count)] == [0]:
            return
    raise AssertionError("it is still there")


async def test_without_a_gateway_there_is_no_such_page(site: PageSite) -> None:
    async with browser() as http:
        visitor = Visitor(http, site.url)
        await visitor.sign_in(site.roles["admin"])
        assert (await visitor.get(HERE)).status == 404
        assert "/ask" not in await visitor.text("/database?database=sales")


async def test_values_are_looked_at_with_ones_own_rights(
    steward: Visitor, gateway: Gateway, server: Cluster
) -> None:
    await execute(
        server.dsn("sales"),
        "CREATE TABLE customers (id int, name text, status text);"
        "INSERT INTO customers VALUES (1, NULL, '<b>A</b>'), (2, NULL, '<b>A</b>'), (3, NULL, NULL)",
    )
    page = "/column?database=sales&schema=public&table=customers&column=status"
    where = {"database": "sales", "schema": "public", "table": "customers", "column": "status"}

    async def look() -> str:
        done = await steward.post("/ask/values", token=await steward.token(), password=PASSWORD, **where)
        return await steward.text(done.location.partition("#")[0])

    gateway.engine.statement = "SELECT session_user, current_user AS who"
    await ask(steward, "how many", role="clerk")
    assert "permission denied for table customers" in await look()
    assert cells(await go_on(steward, "run", 1)) == [STEWARD, "clerk"], "whom was asked as runs it"
    await execute(server.dsn("sales"), f"GRANT SELECT ON customers TO {STEWARD}")
    text = await look()
    assert '<td>&lt;b&gt;A&lt;/b&gt;</td><td class="number">2</td>' in text
    assert "NULL" in text
    assert "&lt;b&gt;A" not in await steward.text(page.replace("status", "name")), "of another column"
    assert (await steward.post("/ask/values", token="x", **where)).status == 403


async def test_an_admin_allows_values_and_a_steward_does_not(asked: PageSite) -> None:
    page = "/column?database=sales&schema=public&table=customers&column=status"
    async with browser() as http, browser() as other:
        admin, steward = Visitor(http, asked.url), Visitor(other, asked.url)
        await admin.sign_in(ROLES["admin"])
        await steward.sign_in(STEWARD)
        assert "An nl_admin allows them" in await steward.text(page)
        element = "sales.public.customers.status"
        assert (await steward.do("allow_values", page, element=element)).status == 403
        assert (await admin.do("allow_values", page, element=element)).status == 303
        text = await admin.text(page)
        assert "An engine reads them in a second or two." in text
        assert ">allowed</span>" in await steward.text(page)
        await admin.do("deny_values", page, element=element)
        assert "Not allowed" in await admin.text(page)
