"""A question over two databases is never answered from one in silence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.values.messages import Asker, AskRequest, ChooseRequest, RowKind
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed
from tests.support.scripted import ScriptedLLM
from tests.support.statements import execute

ANA = Asker("ana", "music")
BOTH = AskRequest(ANA, "How many singers and pets are there?")


@pytest.fixture
async def asked(pool: Any, tools: Tools, server: Cluster) -> Service:
    """Of the other database, too, ana may read something."""
    await execute(server.dsn("copy"), "INSERT INTO pets VALUES (1), (2), (3); GRANT SELECT ON pets TO ana")
    model: Any = ScriptedLLM(["SELECT count(*) FROM singer", "SELECT count(*) FROM pets"])
    return serving(replace(tools, model=model), pool)


async def test_each_part_is_answered_by_its_own_database(asked: Service) -> None:
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


async def test_what_belongs_together_is_not_parted(asked: Service) -> None:
    (row,) = (await asked.ask(replace(BOTH, question="List the singers and their pets"))).rows
    assert (row.kind, row.sql) == (RowKind.ABSTAIN, None)
    assert "“singer” is only in music" in row.explanation
    assert "“pet” is only in copy" in row.explanation


async def test_a_foreign_table_is_a_table(pool: Any, asked: Service) -> None:
    await changed(pool, "music", "CREATE TABLE pets (id int); GRANT SELECT ON pets TO ana")
    reply = await asked.ask(BOTH)
    assert "a statement reads one database" not in " ".join(row.explanation for row in reply.rows)
