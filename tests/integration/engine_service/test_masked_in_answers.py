"""Masked columns in answers: no statement that is written, corrected, verified or chosen reads one; NL WHY tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.app.checking import check_pending
from engine.app.service import Service
from engine.learn.store import LearningStore
from engine.upstream import Databases
from engine.values.errors import UnsafeSQLError
from engine.values.messages import (
    Asker,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    PlanRequest,
    Topic,
    TopicRequest,
)
from engine.values.settings import LearningSettings, Limits, UpstreamSettings
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")
QUESTION = AskRequest(ANA, "names of all singers", ask=False)
MASK = "SELECT nl_catalog.set_attribute('music.singer.name', 'sensitivity', 'masked')"


@pytest.fixture
async def asking(pool: Any, tools: Tools) -> Any:
    upstream = Databases(UpstreamSettings(pool_size=2, privileges_ttl=0.0), catalog=tools.catalog)
    built = replace(
        tools,
        upstream=upstream,
        memory=LearningStore(pool, LearningSettings(example_similarity=0.1)),
    )
    yield serving(built, pool, Limits(k=3, calls=6))
    await upstream.aclose()


async def test_what_is_generated_reads_none(asking: Service, model: ScriptedLLM, pool: Any) -> None:
    model.lines = ["SELECT name FROM singer"]
    await pool.execute(MASK)
    reply = await asking.ask(QUESTION)
    assert [row.sql for row in reply.rows] == [None]
    why = (await asking.topic(TopicRequest(ANA, Topic.WHY, reply.qid))).rows
    assert any("singer.name is masked" in str(row[2]) for row in why)
    assert "masked: for joins by key alone" in model.prompts[0].user
    model.lines = ["SELECT count(*) FROM singer"]
    assert "SELECT count(*) FROM singer" in [row.sql for row in (await asking.ask(QUESTION)).rows]


async def test_a_correction_reads_none(asking: Service, model: ScriptedLLM, pool: Any) -> None:
    model.lines = ["SELECT age FROM singer"]
    await pool.execute(MASK)
    reply = await asking.ask(QUESTION)
    for sql in ("SELECT name FROM singer", "SELECT age FROM singer ORDER BY name", "TABLE singer"):
        with pytest.raises(UnsafeSQLError) as refused:
            await asking.correct(CorrectRequest(ANA, reply.qid, sql))
        assert "masked" in (refused.value.detail or "") or "TABLE" in sql
    fine = await asking.correct(CorrectRequest(ANA, reply.qid, "SELECT count(*) FROM singer"))
    assert fine.rows[0].sql == "SELECT count(*) FROM singer"


async def test_older_answers_are_chosen_no_more(asking: Service, model: ScriptedLLM, pool: Any) -> None:
    model.lines = ["SELECT name FROM singer"]
    reply = await asking.ask(QUESTION)
    assert (await asking.choose(ChooseRequest(ANA, reply.qid, 1))).rows
    await pool.execute(MASK)
    with pytest.raises(UnsafeSQLError, match=r"singer\.name is masked"):
        await asking.choose(ChooseRequest(ANA, reply.qid, 1))
    with pytest.raises(UnsafeSQLError):
        await asking.plan(PlanRequest(ANA, reply.qid, 1))


async def test_a_verified_query_reads_none(
    asking: Service, model: ScriptedLLM, pool: Any, tools: Tools
) -> None:
    model.lines = ["SELECT age FROM singer"]
    await pool.execute("SELECT nl_catalog.verify('music', 'names of all singers', 'SELECT name FROM singer')")
    await check_pending(pool, tools.upstream)
    assert (await asking.ask(QUESTION)).rows[0].sql == "SELECT name FROM singer"
    await pool.execute(MASK)
    assert [row.sql for row in (await asking.ask(QUESTION)).rows] == ["SELECT age FROM singer"]
    # A table's word holds of its columns, whatever is said of them.
    await pool.execute("SELECT nl_catalog.set_attribute('music.singer.age', 'sensitivity', 'sensitive')")
    await pool.execute("SELECT nl_catalog.set_attribute('music.singer', 'sensitivity', 'masked')")
    assert [row.sql for row in (await asking.ask(QUESTION)).rows] == [None]
