"""A question over two databases is never answered from one in silence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from engine.app.question_store import Questions
from engine.app.service import Service
from engine.values.messages import Asker, AskRequest, ChooseRequest, RowKind
from engine.values.settings import Limits
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.introspect import introspect
from schema_catalog.store import CatalogStore
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")
BOTH = AskRequest(ANA, "How many singers and pets are there?")


@pytest.fixture
async def animals(server: Cluster, pool: Any) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """The other database, of which ana may read something."""
    connection = await asyncpg.connect(server.dsn("copy"))
    await connection.execute("INSERT INTO pets VALUES (1), (2), (3); GRANT SELECT ON pets TO ana")
    yield connection
    await connection.close()


@pytest.fixture
def asked(pool: Any, tools: Tools) -> Service:
    model: Any = ScriptedLLM(["SELECT count(*) FROM singer", "SELECT count(*) FROM pets"])
    return Service(replace(tools, model=model), Questions(pool, 600.0), Limits(k=2, calls=4))


async def test_each_part_is_answered_by_its_own_database(animals: Any, asked: Service) -> None:
    reply = await asked.ask(BOTH)
    assert [row.kind for row in reply.rows] == [RowKind.CANDIDATE] * 2
    assert {row.database: row.sql for row in reply.rows} == {
        "music": "SELECT count(*) FROM singer",
        "copy": "SELECT count(*) FROM pets",
    }
    assert "a statement reads one database" in reply.rows[0].explanation
    (pets,) = (row for row in reply.rows if row.database == "copy")
    assert "“How many pets are there?”" in pets.explanation
    assert (await asked.choose(ChooseRequest(ANA, reply.qid, pets.n))).rows == (("3",),)
    assert reply.members == 2, "NL RUN runs none of them unread"


async def test_what_belongs_together_is_not_parted(animals: Any, asked: Service) -> None:
    (row,) = (await asked.ask(replace(BOTH, question="List the singers and their pets"))).rows
    assert (row.kind, row.sql) == (RowKind.ABSTAIN, None)
    assert "“singer” is in music alone" in row.explanation
    assert "“pet” is in copy alone" in row.explanation


async def test_a_foreign_table_is_a_table(server: Cluster, pool: Any, animals: Any, asked: Service) -> None:
    admin = await asyncpg.connect(server.dsn("music"))
    await admin.execute("CREATE TABLE pets (id int); GRANT SELECT ON pets TO ana")
    store = CatalogStore(pool)
    await store.save_snapshot(await introspect(admin, (await store.get("music")).database))
    await admin.close()
    reply = await asked.ask(BOTH)
    assert "a statement reads one database" not in " ".join(row.explanation for row in reply.rows)
