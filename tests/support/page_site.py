"""A store with a page over it: two databases, questions that failed, something learned, and roles with passwords."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import aiohttp
import asyncpg
from aiohttp.test_utils import TestServer

from engine.app.question_store import Questions
from engine.learn.store import LearningStore, NewExample
from engine.values.learned import ExampleKind, Vote
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, RowKind, TraceLine
from engine.values.settings import LearningSettings
from page.coverage import Coverage, CoverageLine, Model
from page.server import application
from page.settings import PageSettings
from pgparley.cluster import Cluster
from schema_catalog.migrate import migrate
from schema_catalog.store import CatalogStore
from schema_catalog.types import Column, Database, ForeignKey, Snapshot, Table, TableKind

PASSWORD = "correct horse"
MARKUP = '<script>alert(1)</script><img src=x onerror="alert(2)">'

CUSTOMERS = Table(
    "public",
    "customers",
    TableKind.TABLE,
    (Column("id", "integer"), Column("name", "text"), Column("status", "text", description="A or I")),
    primary_key=("id",),
    description=MARKUP,
)
ORDERS = Table(
    "public",
    "orders",
    TableKind.TABLE,
    (
        Column("id", "integer"),
        Column("customer", "integer"),
        Column("net", "numeric", description="net amount"),
    ),
    primary_key=("id",),
    foreign_keys=(ForeignKey(("customer",), "public", "customers", ("id",)),),
)
NOTES = Table("Old Stuff", "notes", TableKind.TABLE, (Column("Text", "text"), Column("name", "text")))
SALES = Snapshot("sales", ("public",), (NOTES, CUSTOMERS, ORDERS))
HR = Snapshot(
    "hr", ("public",), (Table("public", "salaries", TableKind.TABLE, (Column("amount", "numeric"),)),)
)


class FixedEngine:
    """A calibration that is always the same, and two models."""

    def explains(self, description: str) -> bool:
        """Where it says so in so many words."""
        return " = " in description

    async def models(self) -> tuple[Model, ...]:
        """One that is there, and one that is not."""
        return (
            Model("generate", "big", "https://models.example/v1", "ready", "grammars"),
            Model("fallback", "<b>small</b>", "", "failed 3 times in a row", ""),
        )

    async def coverage(self) -> Coverage:
        """Two lines, one of them of hr alone."""
        line = CoverageLine(5, None, 0.9, 120, 9, 47, 50, 0.84, 0.98, used=True)
        return Coverage(0.95, 3, (line, replace(line, database="hr", kept=30, low=0.45, high=0.73)))


async def fill(cluster: Cluster, dbname: str) -> None:
    """Migrates the store, registers, asks and learns, and makes the roles of the server."""
    async with asyncpg.create_pool(cluster.dsn(dbname), min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            await migrate(connection)
        store = CatalogStore(pool)
        for snapshot in (SALES, HR):
            await store.add(Database(snapshot.database, "postgresql://h/x", "x", ("public",)))
            await store.save_snapshot(snapshot)
        questions = Questions(pool)
        await save(questions, "q1", "What was the turnover?", "sales", word="turnover", nearest="orders.net")
        await save(questions, "q2", "Turnover by customer?", "sales", word="turnover", nearest="orders.net")
        await save(questions, "q3", "Who earns most pay?", "hr", word="pay", nearest="salaries.amount")
        await save(questions, "q4", "How many active customers are there?", "sales")
        await questions.none_fits("q4", "ana", "these are all customers")
        vote = Vote("revenue", ("public", "orders", "net"), ("public", "orders", "id"), 1.0)
        learning = LearningStore(pool, LearningSettings())
        for database in ("sales", "hr"):
            await learning.keep(
                [
                    NewExample(
                        "ana",
                        database,
                        f"revenue in {database}",
                        "SELECT net",
                        ExampleKind.CHOSEN,
                        f"q-{database}",
                        (vote,),
                    )
                ]
            )
        async with pool.acquire() as connection:
            await _make_roles(connection, cluster)


async def save(
    questions: Questions,
    qid: str,
    question: str,
    database: str,
    *,
    word: str = "",
    nearest: str = "",
    send: bool = False,
) -> None:
    """An answer about `database`: an abstention for a word that nothing stands for, else one statement."""
    lines = [TraceLine("route", "database", f"{database}; tables public.x")]
    if word:
        lines += [
            TraceLine("judge", f"SELECT '{word}'", "as it came", 0.2),
            TraceLine("judge", "SELECT 'worse'", "behind it", 0.1),
            TraceLine("link", word, f"{database}: {nearest}", 0.4),
            TraceLine("link", "nothing stands for", f"{database}: {word}", 0.4),
        ]
        row = AnswerRow(
            1, RowKind.ABSTAIN, None, None, f"Nothing in {database} stands for {word}.", None, None, qid
        )
    else:
        sql = "SELECT count(*) FROM customers"
        row = AnswerRow(1, RowKind.CANDIDATE, database, 0.9, "counts customers", sql, None, qid)
    reply = AskReply(qid, (row,), tuple(lines))
    await questions.save(AskRequest(Asker("ana", "sales"), question, send=send), reply)


ROLES = {kind: f"{kind}_of_page" for kind in ("admin", "steward", "reader", "stranger")}
"""By what they may: a steward of sales, a reader of its columns."""


async def _make_roles(connection: asyncpg.Connection, cluster: Cluster) -> None:
    await connection.execute("SET password_encryption = 'scram-sha-256'")
    for role in ROLES.values():
        await connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
    await connection.execute(
        f"GRANT nl_admin TO {ROLES['admin']}; GRANT nl_steward TO {ROLES['steward']};"
        f"GRANT USAGE ON SCHEMA nl_catalog TO {ROLES['reader']};"
        f"GRANT SELECT ON nl_catalog.databases, nl_catalog.tables, nl_catalog.columns TO {ROLES['reader']};"
        f"SELECT nl_catalog.grant_database('sales', '{ROLES['steward']}'),"
        f" nl_catalog.grant_database('sales', '{ROLES['reader']}')"
    )
    hba = cluster.data_dir / "pg_hba.conf"
    line = f"local all {','.join(ROLES.values())} scram-sha-256\n"
    hba.write_text(line + hba.read_text("utf-8"), encoding="utf-8")
    await connection.execute("SELECT pg_reload_conf()")


@dataclass(frozen=True, slots=True)
class PageSite:
    """A running page: where, over which store, for which roles."""

    url: str
    dsn: str
    roles: dict[str, str]


@asynccontextmanager
async def page_site(dsn: str, gateway: str = "") -> AsyncIterator[PageSite]:
    """Serves a page over the store, which was filled. `gateway`: the URI of one over which questions are tried."""
    settings = PageSettings("127.0.0.1:0", gateway=gateway)
    server = TestServer(application(dsn, settings, FixedEngine(), https=False))
    await server.start_server()
    try:
        yield PageSite(str(server.make_url("")), dsn, ROLES)
    finally:
        await server.close()


def browser() -> aiohttp.ClientSession:
    """A client that keeps cookies and follows nothing by itself."""
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
