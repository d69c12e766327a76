"""Makes the pictures of page.md: `make screenshots`. A store of the demo's databases, and a page over it in Chromium.

Descriptions, failed questions, the answer and the calibration are examples, made here; no model runs.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
from aiohttp import web
from aiohttp.test_utils import TestServer
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.app.question_store import Questions
from engine.values.messages import AnswerRow, AskReply, RowKind
from page.coverage import Coverage, CoverageLine, Model
from page.server import application
from page.settings import PageSettings
from pgparley import cluster
from pgparley.cluster import Cluster
from pgparley.demo.prepare import ANALYST, STORE, prepare
from pgparley.demo.samples import SAMPLES
from proxy.net.worker.worker import Worker
from proxy.settings import AuditSettings, GatewaySettings
from schema_catalog.login_rights import STORE_ROLE
from tests.support.chromium import chromium, missing
from tests.support.page_site import save
from tests.wire_fixtures import FakeEngine

if TYPE_CHECKING:
    from playwright.async_api import Page

FOLDER = Path(__file__).parent / "screenshots"
PASSWORD = "for a picture"  # noqa: S105 - of a server that lives as long as this program
SIZE = {"width": 1280, "height": 800}

PICTURES = (
    ("databases", "/", "light"),
    ("database", "/database?database=sales#proposed", "light"),
    ("table", "/table?database=sales&schema=public&table=orders", "light"),
    ("column", "/column?database=sales&schema=public&table=customers&column=segment", "light"),
    ("ask", "/ask?database=sales", "light"),
    ("questions", "/questions", "dark"),
    ("models", "/models", "light"),
    ("coverage", "/coverage", "light"),
)
"""Name, address and colour scheme."""

SAID = """
    SELECT nl_catalog.describe('sales', 'what the company sold, to whom, and who works there');
    SELECT nl_catalog.describe('sales.orders', 'one row for each order of a customer');
    SELECT nl_catalog.add_synonym('sales.orders', 'purchase'), nl_catalog.add_synonym('sales.orders', 'receipt');
    SELECT nl_catalog.set_quota('public', 60), nl_catalog.set_budget('public', 200000);
    INSERT INTO pgparley.token_use (day, asker, questions, prefilled, cached, generated)
    VALUES (pgparley.today(), 'ana', 41, 61200, 180400, 5310), (pgparley.today(), 'bo', 12, 17950, 52100, 1490);
    SELECT nl_catalog.verify('sales', 'How many orders are there?', 'SELECT count(*) FROM orders', '{kpi}');
"""


SQL = "SELECT region, SUM(net_sales) AS total_net_sales FROM orders GROUP BY region ORDER BY 2 DESC"


class Answering(FakeEngine):
    """Gives one answer to everything."""

    @staticmethod
    def answer(_: str) -> AskReply:
        """Two candidates."""
        told = "region, total {} sales from orders for each region, the highest first"
        other = SQL.replace("net", "gross")
        rows = (
            AnswerRow(1, RowKind.CANDIDATE, "sales", 0.62, told.format("net"), SQL, None, "q1"),
            AnswerRow(2, RowKind.CANDIDATE, "sales", 0.21, told.format("gross"), other, None, "q1"),
        )
        return AskReply("q1", rows, members=2)


class ExampleEngine:
    """A calibration and models as they may look."""

    def explains(self, description: str) -> bool:
        """Where it says so in so many words."""
        return " = " in description

    async def models(self) -> tuple[Model, ...]:
        """A service, and the embedded model behind it."""
        return (
            Model("generate", "a-model", "https://models.example/v1", "ready", "schema; logprobs"),
            Model("fallback", "embedded", "http://127.0.0.1:6434/v1", "", ""),
            Model("encode", "all-MiniLM-L6-v2", "", "ready", ""),
        )

    async def coverage(self) -> Coverage:
        """One promise after the other, kept but for one."""
        shares = ((0.6, 67, 0.61, 0.81), (0.7, 74, 0.68, 0.87), (0.8, 78, 0.74, 0.91), (0.9, 86, 0.84, 0.97))
        lines = [
            CoverageLine(5, None, promised, 212, 9, kept, 94, low, high, used=True)
            for promised, kept, low, high in (*shares, (0.95, 91, 0.91, 0.99), (0.99, 90, 0.895, 0.983))
        ]
        return Coverage(0.95, 14, tuple(lines))


async def fill(running: Cluster) -> None:
    """Loads and registers the sample databases; says and asks something about them."""
    store = running.dsn(STORE, STORE_ROLE)
    environment = {**os.environ, "PGPARLEY_ENGINE_STORE": store}
    console = Console(stderr=True)
    databases = await prepare(
        running, console, [each for each in SAMPLES if each.name in ("sales", "flights", "library")]
    )
    for name, dsn in databases:
        command = [sys.executable, "-m", "pgparley.cli", "catalog", "add", name, "--dsn", dsn]
        await asyncio.to_thread(
            subprocess.run, command, env=environment, check=True, stdout=subprocess.DEVNULL
        )
    async with asyncpg.create_pool(store, min_size=1, max_size=1) as pool:
        await pool.execute(SAID)
        questions = Questions(pool)
        for number, (question, database, word, nearest) in enumerate(ASKED):
            await save(questions, f"q{number}", question, database, word=word, nearest=nearest)
        await questions.none_fits(f"q{len(ASKED) - 1}", "ana", "only those who still work here")


ASKED = (
    ("What was the turnover of last year?", "sales", "turnover", "orders.net_sales"),
    ("Turnover by region?", "sales", "turnover", "orders.net_sales"),
    ("Which carrier has the most cancellations?", "flights", "cancellations", "flights.dep_delay"),
    ("How many employees are in each department?", "sales", "", ""),
)
"""Question, database, the word that nothing stood for, what it was nearest to."""


async def main() -> None:
    """Makes all pictures."""
    if why := missing():
        sys.exit(f"screenshots: {why}")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        running = cluster.start(Path(folder) / "pg")
        try:
            await draw(running)
        finally:
            cluster.stop(running)


async def draw(running: Cluster) -> None:
    """Fills the server, serves the page and takes its pictures, signed in as dora."""
    admin = await asyncpg.connect(running.dsn())
    await fill(running)
    await admin.execute(f"CREATE ROLE dora LOGIN IN ROLE nl_admin, {ANALYST} PASSWORD '{PASSWORD}'")
    hba = running.data_dir / "pg_hba.conf"
    hba.write_text("local all dora scram-sha-256\n" + hba.read_text("utf-8"), encoding="utf-8")
    await admin.execute("SELECT pg_reload_conf()")
    await admin.close()
    async with gateway(running) as port, chromium() as browser:
        settings = PageSettings("127.0.0.1:0", gateway=f"postgresql://127.0.0.1:{port}")
        app = application(running.dsn(STORE), settings, ExampleEngine(), https=False)
        async with TestServer(app) as server:
            url = str(server.make_url(""))
            for name, path, scheme in PICTURES:
                context = await browser.new_context(
                    viewport=SIZE, color_scheme=scheme, reduced_motion="reduce"
                )
                tab = await context.new_page()
                await tab.goto(f"{url}/sign-in")
                await tab.fill("#role", "dora")
                await tab.fill("#password", PASSWORD)
                await tab.click("main button")
                await tab.goto(url + path)
                await prepared(tab, name)
                await tab.screenshot(
                    path=FOLDER / f"{name}-{scheme}.png", full_page=name in {"ask", "column"}
                )
                await context.close()


async def prepared(tab: Page, name: str) -> None:
    """Does what stands on a picture."""
    if name == "ask":
        await tab.fill("#question", "What are total sales by region?")
        await tab.fill("#as", "analyst")
        await tab.fill("#password", PASSWORD)
        await tab.click("main button")
        await tab.click("text=Run it >> nth=0")
    elif name == "column":
        await tab.fill("#look-password", PASSWORD)
        await tab.click("text=Look at its values")


@asynccontextmanager
async def gateway(running: Cluster) -> AsyncIterator[int]:
    """The port of a gateway before the server, and behind it an engine that gives the example's answer."""
    with tempfile.TemporaryDirectory() as folder:
        runner = web.AppRunner(Answering(statement=SQL).app())
        await runner.setup()
        await web.UnixSite(runner, f"{folder}/engine").start()
        settings = GatewaySettings(
            str(running.socket_dir),
            running.port,
            listen_port=0,
            engine=f"{folder}/engine",
            shutdown_grace=0.0,
        )
        worker = Worker(settings, audit=AuditSettings())
        await worker.start()
        try:
            yield worker.port
        finally:
            await worker.stop()
            await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
