"""A page over a store of its own, and a client for each of its roles."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import aiohttp
import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.made_store import Made, MadeStore
from tests.conftest import COPY, Postgres
from tests.support.page_site import PASSWORD, PageSite, browser, fill, page_site
from tests.support.statements import execute, execute_now

_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Page:
    """What the server answered."""

    status: int
    text: str
    headers: aiohttp.typedefs.LooseHeaders
    location: str


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser without eyes: keeps cookies, follows nothing by itself."""

    http: aiohttp.ClientSession
    url: str

    async def get(self, path: str) -> Page:
        async with self.http.get(self.url + path, allow_redirects=False) as response:
            return await _page(response)

    async def text(self, path: str) -> str:
        """The page there."""
        return (await self.get(path)).text

    async def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> Page:
        async with self.http.post(
            self.url + path, data=fields, headers=headers, allow_redirects=False
        ) as response:
            return await _page(response)

    async def post_all(self, path: str, fields: Sequence[tuple[str, str]]) -> Page:
        """Sends a form that has a field several times."""
        async with self.http.post(self.url + path, data=fields, allow_redirects=False) as response:
            return await _page(response)

    async def token(self, path: str = "/") -> str:
        """The token of the forms there."""
        found = re.search(r'name="token" value="([^"]+)"', await self.text(path))
        assert found is not None
        return found[1]

    async def sign_in(self, role: str, password: str = PASSWORD) -> Page:
        return await self.post("/sign-in", role=role, password=password, token=await self.token("/sign-in"))

    async def do(self, name: str, back: str = "/", **fields: str) -> Page:
        """Sends the form of an action."""
        return await self.post(f"/do/{name}", token=await self.token(), back=back, **fields)


async def _page(response: aiohttp.ClientResponse) -> Page:
    return Page(
        response.status, await response.text(), response.headers, response.headers.get("Location", "")
    )


Visit = Callable[..., Awaitable[Visitor]]


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> Iterator[Cluster]:
    """With roles, and a template of a store that they may see."""
    with postgres("page") as running:
        execute_now(running.dsn(), "CREATE DATABASE page_template")
        asyncio.run(fill(running, "page_template"))
        yield running


@pytest.fixture
async def site(server: Cluster) -> AsyncIterator[PageSite]:
    name = f"page_{next(_NUMBERS)}"
    await execute(server.dsn(), f"CREATE DATABASE {name} TEMPLATE page_template {COPY}")
    async with page_site(server.dsn(name)) as running:
        yield running
    await execute(server.dsn(), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def visit(site: PageSite) -> AsyncIterator[Visit]:
    """A visitor who is signed in as the given kind of role; as nobody without one."""
    async with AsyncExitStack() as stack:

        async def visiting(kind: str | None = None) -> Visitor:
            visitor = Visitor(await stack.enter_async_context(browser()), site.url)
            if kind is not None:
                assert (await visitor.sign_in(site.roles[kind])).status == 303
            return visitor

        yield visiting


@pytest.fixture
async def made(site: PageSite) -> None:
    """What a model said of a table of each database."""
    async with asyncpg.create_pool(site.dsn, min_size=1, max_size=1) as pool:
        orders, salaries = ("public", "orders"), ("public", "salaries")
        words = {orders: ("deal",), (*orders, "net"): ("<b>turnover</b>", "takings")}
        questions = tuple(f"what was <i>sold</i> in {year}" for year in range(2001, 2008))
        store = MadeStore(pool)
        await store.keep("sales", Made((orders,), ((*orders, "net"),), questions, words), "f", "a model")
        paid = Made((salaries,), ((*salaries, "amount"),), ("who earns most",), {salaries: ("pay",)})
        await store.keep("hr", paid, "f", "a model")
