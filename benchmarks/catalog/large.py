"""A catalog of 100,000 columns: what the DBA's page, the views and an import of descriptions take.

A server of its own with a store of 100 databases, each of 50 tables of 20 columns with a comment. Pages are asked for
over HTTP, signed in as an nl_admin.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator

import aiohttp
import asyncpg
from aiohttp.test_utils import TestServer

from page.coverage import Coverage, Model, UnavailableError
from page.server import application
from page.settings import PageSettings
from pgparley.cluster import Cluster
from schema_catalog.knowledge_files.format import (
    ColumnBlock,
    DatabaseBlock,
    KnowledgeFile,
    TableBlock,
    read_text,
    write_text,
)
from schema_catalog.knowledge_files.merge import apply
from schema_catalog.migrate import migrate
from schema_catalog.store import CatalogStore
from schema_catalog.types import Column, Database, ForeignKey, Snapshot, Table, TableKind

DATABASES, TABLES, COLUMNS = 100, 50, 20
IMPORTED = 5
SAID = "what it means to those who ask, in some sixty characters: "
PASSWORD = "for a minute"  # noqa: S105 - of a server that lives as long as this program
WORDS = re.findall(
    r"\w+",
    """customer order invoice region net gross status city country name date amount price quantity product supplier
    employee department salary flight airport player team season score member loan fine book author title""",
)

VIEWS = {
    "count": "SELECT count(*) FROM nl_catalog.columns",
    "what lacks a description": "SELECT * FROM nl_catalog.columns WHERE description IS NULL LIMIT 100",
    "a word in descriptions": "SELECT * FROM nl_catalog.columns WHERE description LIKE '%invoice%' LIMIT 100",
    "a table's columns": """SELECT * FROM nl_catalog.columns WHERE database = 'db7' AND "table" = 't7'""",
    "one element": "SELECT * FROM nl_catalog.tables WHERE element = 'db7.public.t7'",
    "all tables": "SELECT * FROM nl_catalog.tables",
    "all columns": "SELECT * FROM nl_catalog.columns",
}

PAGES = {
    "search: a common name": "/search?words=customer",
    "search: two words": "/search?words=net+amount",
    "search: a word in every comment": "/search?words=noted",
    "search: nothing found": "/search?words=zzzz",
    "databases": "/",
    "a database": "/database?database=db7",
    "a table": "/table?database=db7&schema=public&table=t7",
    "health of a database": "/health?database=db7",
}


class NoEngine:
    """`page.coverage.RunningEngine` of an engine that runs no more."""

    async def coverage(self) -> Coverage:
        """Never answers."""
        raise UnavailableError

    async def models(self) -> tuple[Model, ...]:
        """As `coverage`."""
        raise UnavailableError


def _chances(count: int) -> Iterator[tuple[int, random.Random]]:
    """The numbers of so many databases, each with what its names are drawn from."""
    return ((number, random.Random(number)) for number in range(count))  # noqa: S311 - names, no secrets


def snapshot(number: int, chance: random.Random) -> Snapshot:
    """One database of the catalog; each table but the first refers to one before it."""

    def columns() -> tuple[Column, ...]:
        names = [f"{chance.choice(WORDS)}_{chance.choice(WORDS)}_{place}" for place in range(COLUMNS)]
        comments = [
            f"the {chance.choice(WORDS)} as it was noted with the {chance.choice(WORDS)}" for _ in names
        ]
        return tuple(
            Column(name, "text", description=said) for name, said in zip(names, comments, strict=True)
        )

    tables: list[Table] = []
    for place in range(TABLES):
        own = columns()
        keys: tuple[ForeignKey, ...] = ()
        if place:
            referred = tables[chance.randrange(place)]
            keys = (ForeignKey((own[1].name,), "public", referred.name, referred.primary_key),)
        tables.append(Table("public", f"t{place}", TableKind.TABLE, own, (own[0].name,), foreign_keys=keys))
    return Snapshot(f"db{number}", ("public",), tuple(tables))


async def fill(dsn: str) -> None:
    """Makes the store."""
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            await migrate(connection)
        store = CatalogStore(pool)
        for number, chance in _chances(DATABASES):
            await store.add(Database(f"db{number}", "postgresql://nowhere/x", "x", ("public",)))
            await store.save_snapshot(snapshot(number, chance))
        await pool.execute(f"CREATE ROLE visitor LOGIN IN ROLE nl_admin PASSWORD '{PASSWORD}'; ANALYZE")


async def measured(running: Cluster, rounds: int) -> list[tuple[str, list[float]]]:
    """Each page's name and the seconds of its rounds."""
    hba = running.data_dir / "pg_hba.conf"
    hba.write_text("local all visitor scram-sha-256\n" + hba.read_text("utf-8"), encoding="utf-8")
    connection = await asyncpg.connect(running.dsn())
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()
    app = application(running.dsn(), PageSettings("127.0.0.1:0"), NoEngine(), https=False)
    async with (
        TestServer(app) as server,
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http,
    ):
        url = str(server.make_url(""))
        async with http.get(f"{url}/sign-in") as form:
            (token,) = re.findall(r'name="token" value="([^"]+)"', await form.text())
        await (
            await http.post(f"{url}/sign-in", data={"role": "visitor", "password": PASSWORD, "token": token})
        ).read()
        return [(name, [await once(http, url + path) for _ in range(rounds)]) for name, path in PAGES.items()]


async def read(dsn: str, rounds: int) -> list[tuple[str, list[float]]]:
    """Each statement's name and the seconds of its rounds, until asyncpg has all rows as an nl_admin."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("SET ROLE visitor")
    found: list[tuple[str, list[float]]] = []
    for name, statement in VIEWS.items():
        found.append((name, []))
        for _ in range(rounds):
            began = time.perf_counter()
            await connection.fetch(statement)
            found[-1][1].append(time.perf_counter() - began)
    await connection.close()
    return found


async def once(http: aiohttp.ClientSession, address: str) -> float:
    """Seconds until the whole page is there."""
    began = time.perf_counter()
    async with http.get(address, allow_redirects=False) as response:
        response.raise_for_status()
        await response.read()
    return time.perf_counter() - began


async def imported(dsn: str) -> float:
    """Seconds until descriptions of the columns of `IMPORTED` databases, 5,000, are in the catalog from a file."""
    columns = {f"db{number}": snapshot(number, chance) for number, chance in _chances(IMPORTED)}
    blocks = tuple(
        DatabaseBlock(
            name,
            tables=tuple(
                TableBlock(
                    table.schema,
                    table.name,
                    columns=tuple(ColumnBlock(each.name, SAID + each.name) for each in table.columns),
                )
                for table in made.tables
            ),
        )
        for name, made in columns.items()
    )
    text = write_text(KnowledgeFile(1, blocks))
    connection = await asyncpg.connect(dsn)
    began = time.perf_counter()
    async with connection.transaction():
        steps = await apply(connection, read_text("descriptions.yaml", text))
    took = time.perf_counter() - began
    await connection.close()
    if len(steps) != IMPORTED * TABLES * COLUMNS:
        raise RuntimeError(f"{len(steps)} descriptions came in")
    return took
