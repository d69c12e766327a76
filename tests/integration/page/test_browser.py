"""The page in a real Chromium: by keyboard, without script, in light and dark, on a narrow screen, judged by axe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.chromium import AXE, chromium, missing
from tests.support.page_site import MARKUP, PASSWORD, PageSite
from tests.support.statements import execute, fetch

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

PAGES = [
    "/",
    "/database?database=sales",
    "/table?database=sales&schema=public&table=orders",
    "/column?database=sales&schema=public&table=orders&column=net",
    *("/search?words=net", "/health?database=sales", "/questions", "/learned", "/drift", "/suggestions"),
    *("/coverage", "/models", "/database?database=sales&find=net"),
]
BEYOND = """
    [...document.querySelectorAll("body *")]
    .filter(each => each.getBoundingClientRect().right > innerWidth && !each.closest(".scroll, .plot"))
    .map(each => each.outerHTML)
"""
CUT = """
    [...document.querySelectorAll("input[placeholder]")].filter(each => {
        each.value = each.placeholder;
        return each.scrollWidth > each.clientWidth;
    }).map(each => each.placeholder).concat(
    [...document.querySelectorAll("svg.graph a")].filter(each => {
        const box = each.querySelector("rect").getBBox();
        return [...each.querySelectorAll("text")].some(text => text.getBBox().width > box.width);
    }).map(each => each.textContent))
"""
RULES = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    # The same page in other colours.
    "dark": ["color-contrast"],
}


@pytest.fixture
async def running() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


async def signed_in(context: BrowserContext, site: PageSite, kind: str = "admin") -> Page:
    """A tab after the sign-in, done with the keyboard alone."""
    tab = await context.new_page()
    await tab.goto(f"{site.url}/")
    await tab.keyboard.press("Tab")
    await tab.keyboard.press("Tab")
    await tab.keyboard.type(site.roles[kind])
    await tab.keyboard.press("Tab")
    await tab.keyboard.type(PASSWORD)
    await tab.keyboard.press("Enter")
    await tab.wait_for_url(f"{site.url}/")
    return tab


async def test_a_word_that_failed_is_mended_without_script(running: Browser, site: PageSite) -> None:
    context = await running.new_context(java_script_enabled=False)
    tab = await signed_in(context, site, "steward")
    await tab.get_by_role("link", name="Questions", exact=True).click()
    card = tab.get_by_role("region", name="turnover")
    assert await card.get_by_label("Element").input_value() == "sales.public.orders.net"
    await card.get_by_role("button", name="Add synonym").click()
    assert await tab.get_by_role("status").inner_text() == "The synonym was added."
    assert await tab.get_by_text("A synonym of sales.public.orders.net by now.").count() == 1
    await tab.get_by_role("searchbox").fill("turnover")
    await tab.keyboard.press("Enter")
    await tab.get_by_role("link", name="sales.orders.net").click()
    await tab.get_by_role("textbox", name="Description").fill("net of returns, in euro")
    await tab.get_by_role("button", name="Save description").click()
    rows = await fetch(site.dsn, "SELECT element, description, synonyms FROM nl_catalog.said")
    assert [tuple(row) for row in rows] == [
        ("sales.public.orders.net", "net of returns, in euro", ["turnover"])
    ]
    await tab.get_by_role("button", name="Sign out").click()
    await tab.wait_for_url(f"{site.url}/sign-in")


async def test_the_keyboard_reaches_the_tables_of_the_picture(running: Browser, site: PageSite) -> None:
    tab = await signed_in(await running.new_context(), site)
    await tab.goto(site.url + PAGES[1])
    await tab.keyboard.press("Tab")
    assert await tab.evaluate("document.activeElement.textContent") == "Skip to content"
    await tab.keyboard.press("Enter")
    reached = []
    for _ in range(20):
        await tab.keyboard.press("Tab")
        reached.append(
            await tab.evaluate("document.activeElement.closest('svg') && document.activeElement.textContent")
        )
    assert sum("orders" in (text or "") for text in reached) == 1
    await tab.locator("svg a", has_text="orders").focus()
    await tab.keyboard.press("Enter")
    assert await tab.get_by_role("heading", level=1).inner_text() == "orders"


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(running: Browser, site: PageSite, scheme: Any) -> None:
    await execute(
        site.dsn,
        "SELECT nl_catalog.add_synonym('sales.orders.net', 'revenue'), nl_catalog.hide('sales.orders.id'),"
        " nl_catalog.describe('sales.orders.net', 'other'), nl_catalog.define_term('sales', 'a', 'b'),"
        " nl_catalog.verify('sales', 'q', 'SELECT 1'), nl_catalog.register('postgres'),"
        " nl_catalog.set_attribute('sales.orders.net', 'unit', 'EUR'), nl_catalog.refresh('sales'),"
        " nl_catalog.declare_join('sales.orders.net', 'sales.customers.id')",
    )
    context = await running.new_context(color_scheme=scheme)
    tab = await context.new_page()
    await tab.goto(f"{site.url}/sign-in")
    assert await violations(tab, scheme) == []
    tab = await signed_in(context, site)
    for path in PAGES:
        await tab.goto(site.url + path)
        assert await violations(tab, scheme) == [], path
    ground = await tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 25, 31)"}[scheme]


async def violations(tab: Page, scheme: str = "light") -> list[tuple[str, str]]:
    """The rules that the page breaks, and where."""
    await tab.evaluate(AXE.read_text("utf-8"))
    found = await tab.evaluate("rules => axe.run({runOnly: rules})", RULES[scheme])
    return [(each["id"], node["html"]) for each in found["violations"] for node in each["nodes"]]


async def test_nothing_is_refused_by_the_policy_and_no_markup_runs(running: Browser, site: PageSite) -> None:
    said: list[str] = []
    context = await running.new_context()
    context.on("console", lambda message: said.append(message.text))
    context.on("dialog", lambda dialog: said.append(dialog.message))
    tab = await signed_in(context, site)
    tab.on("pageerror", lambda error: said.append(str(error)))
    for path in PAGES:
        await tab.goto(site.url + path)
    assert await tab.locator("script").count() == 0
    await tab.goto(site.url + PAGES[2].replace("orders", "customers"))
    assert await tab.get_by_text(MARKUP, exact=True).count() == 1
    assert said == []


async def test_texts_are_not_cut(running: Browser, site: PageSite) -> None:
    tab = await signed_in(await running.new_context(viewport={"width": 1180, "height": 760}), site)
    await execute(
        site.dsn, "SELECT nl_catalog.describe('sales.orders', 'what was ordered, by whom and when')"
    )
    for width in (320, 700, 1180):
        await tab.set_viewport_size({"width": width, "height": 760})
        await tab.goto(site.url + PAGES[1])
        assert await tab.evaluate(CUT) == [], width


@pytest.mark.usefixtures("made")
async def test_a_narrow_screen_needs_no_scrolling_sideways(running: Browser, site: PageSite) -> None:
    context = await running.new_context(viewport={"width": 320, "height": 640})
    tab = await signed_in(context, site)
    for path in PAGES:
        await tab.goto(site.url + path)
        assert await tab.evaluate(BEYOND) == [], path
