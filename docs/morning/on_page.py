"""The same morning on the page, in a real Chromium: what is typed and clicked, and a picture of what is then there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import asyncpg

from docs.morning.from_psql import until
from docs.morning.place import PASSWORD, Place
from docs.morning.session import Psql, UnexpectedError, psql
from docs.morning.steps import (
    BORROWED,
    CHECKED,
    COUNTED,
    DATABASES,
    DBT,
    MOST_BORROWED,
    PROPOSED,
    QUESTION,
    REGISTERED,
    TERMS,
    WORD,
    Wait,
)
from tests.support.chromium import chromium

if TYPE_CHECKING:
    from playwright.async_api import Page

_SIZE = {"width": 1180, "height": 760}


@dataclass(frozen=True, slots=True)
class Visit:
    """dora's tab, an analyst's psql beside it, and the store to look at."""

    at: Place
    tab: Page
    analyst: Psql
    store: asyncpg.Connection

    async def open(self, path: str, **query: str) -> None:
        """Shows a page."""
        await self.tab.goto(f"{self.at.page}{path}?{urlencode(query)}")

    async def send(self, action: str, button: str, **fields: str) -> None:
        """Fills the form of an action on this page and sends it."""
        form = self.tab.locator(f'form[action="/do/{action}"]').filter(
            has=self.tab.get_by_role("button", name=button)
        )
        for name, text in fields.items():
            await form.first.locator(f'[name="{name}"]').fill(text)
        await form.first.get_by_role("button", name=button).click()
        await self.tab.get_by_role("status").wait_for()

    async def shows(self, text: str) -> None:
        """Raises playwright's `TimeoutError` where the page does not show `text`; scrolls there where it does."""
        await self.tab.get_by_text(text).filter(visible=True).first.scroll_into_view_if_needed()

    async def later(self, wait: Wait, path: str, **query: str) -> None:
        """Shows a page once something has come about."""
        await until(self.store, wait)
        await self.open(path, **query)


@dataclass(frozen=True, slots=True)
class Shown:
    """A step on the page. `picture`: the name of its file, without ending."""

    title: str
    why: str
    picture: str
    do: Callable[[Visit], Awaitable[None]]


async def _register(visit: Visit) -> None:
    await visit.open("/")
    for name in DATABASES:
        await visit.send("register", "Register", database=name)
    await visit.later(REGISTERED, "/")
    await visit.shows("library")


async def _health(visit: Visit) -> None:
    await visit.open("/health", database="sales")
    await visit.shows("Tables without a description: 6")


async def _import(visit: Visit) -> None:
    command = ("pgparley", "catalog", "import", DBT, "--from", "dbt", "--database", "sales")
    process = await asyncio.create_subprocess_exec(
        *command, env=dict(visit.at.environment), cwd=Path(__file__).parent, stdout=asyncio.subprocess.DEVNULL
    )
    if await process.wait() != 0:
        raise UnexpectedError(" ".join(command))
    await visit.open("/database", database="sales")
    await visit.shows("What is sold, one row for each article")


async def _define(visit: Visit) -> None:
    await visit.open("/database", database="sales")
    for term, definition, description in TERMS:
        await visit.send(
            "define_term", "Define term", term=term, definition=definition, description=description
        )
    await visit.later(CHECKED, "/database", database="sales")
    await visit.shows("return rate")


async def _hide(visit: Visit) -> None:
    await visit.open("/table", database="sales", schema="public", table="departments_2022")
    await visit.send("hide", "Hide from questions")
    await visit.shows("It is no route")


async def _verify(visit: Visit) -> None:
    await visit.open("/database", database="library")
    await visit.send("verify", "Verify query", question=BORROWED, sql=MOST_BORROWED)
    await visit.later(CHECKED, "/database", database="library")
    await visit.shows(BORROWED)


async def _fail(visit: Visit) -> None:
    await visit.analyst.type(f"NL: {QUESTION}\n;", r"kind +\| abstain")
    await visit.open("/questions")
    await visit.shows(f"“{WORD}”")


async def _mend(visit: Visit) -> None:
    await visit.send("add_synonym", "Add synonym", element="sales.customers")
    await visit.shows("mended")
    await visit.tab.locator("summary").first.click()
    await visit.send("verify", "Verify query", database="sales", sql=COUNTED)
    await visit.later(CHECKED, "/questions")
    await visit.analyst.type(f"NL: {QUESTION}\n;", "verified")


async def _rename(visit: Visit) -> None:
    await visit.open("/column", database="sales", schema="public", table="orders", column="gross_sales")
    await visit.send(
        "describe", "Save description", description="what the customer was billed, before discounts"
    )
    owner = await asyncpg.connect(visit.at.site.cluster.dsn("sales"))
    await owner.execute("ALTER TABLE orders RENAME COLUMN gross_sales TO gross_amount")
    await owner.close()
    await visit.open("/database", database="sales")
    await visit.send("refresh", "Read it again")
    await visit.later(PROPOSED, "/drift")
    await visit.shows("sales.public.orders.gross_amount")


async def _accept(visit: Visit) -> None:
    await visit.send("accept_rename", "Accept")
    await visit.open("/drift")
    await visit.shows("accepted by dora")


SHOWN = (
    Shown(
        "Register three databases",
        "By their names, under *Databases*; the list shows them as soon as the engine has read them.",
        "morning-1-registered",
        _register,
    ),
    Shown("See their health", "*Health*, of sales.", "morning-2-health", _health),
    Shown(
        "Import what the dbt project says",
        "The page takes no files: the command does, as above. What the file says stands where it belongs.",
        "morning-3-imported",
        _import,
    ),
    Shown("Define two terms", "On the database's page.", "morning-4-terms", _define),
    Shown("Hide a table", "On the table's page.", "morning-5-hidden", _hide),
    Shown("Verify a query", "On the database's page.", "morning-6-verified", _verify),
    Shown(
        "A question fails",
        f"An analyst asks in psql: *{QUESTION}* *Questions* has it by the word that failed.",
        "morning-7-failed",
        _fail,
    ),
    Shown(
        "Mend it",
        "The form for a synonym stands beside the word, that for a verified query below the question."
        " Asked again, it is answered.",
        "morning-8-mended",
        _mend,
    ),
    Shown(
        "Rename a column",
        "Dora has described a column; its owner renames it. *Read it again* on the database's page has the engine look"
        " now; *Drift* proposes.",
        "morning-9-drift",
        _rename,
    ),
    Shown(
        "Accept the drift",
        "One button. What was said of the old name is said of the new one.",
        "morning-10-accepted",
        _accept,
    ),
)
"""The morning, again."""


async def on_page(at: Place, folder: Path) -> tuple[Shown, ...]:
    """Does all steps and takes their pictures, into `folder`; raises at the first that goes another way."""
    store = await asyncpg.connect(at.store)
    try:
        async with (
            chromium() as browser,
            psql(at.site.psql, at.uri("sales", "analyst"), at.environment, folder) as analyst,
        ):
            context = await browser.new_context(
                viewport=_SIZE, color_scheme="light", java_script_enabled=False
            )
            tab = await context.new_page()
            await tab.goto(f"{at.page}/sign-in")
            await tab.fill("#role", "dora")
            await tab.fill("#password", PASSWORD)
            await tab.get_by_role("button", name="Sign in").click()
            await tab.get_by_role("heading", name="Databases").wait_for()
            visit = Visit(at, tab, analyst, store)
            for step in SHOWN:
                await step.do(visit)
                await tab.screenshot(path=folder / f"{step.picture}.png")
    finally:
        await store.close()
    return SHOWN
