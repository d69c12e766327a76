"""Attributes of elements in answers: units in words, deprecated things last, sensitive values nowhere."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.learn.store import LearningStore
from engine.link.source import StoredValues
from engine.values.messages import Asker, AskRequest, ChooseRequest, Topic, TopicRequest
from engine.values.settings import DialogueSettings, LearningSettings, Limits
from engine.values.tools import Tools
from schema_catalog.values import ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import keep
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")
FAMILY = ("public", "singer", "family_name")
LEARNING = LearningSettings(example_similarity=0.1)
SET = "SELECT nl_catalog.set_attribute"


@pytest.fixture
def asking(pool: Any, tools: Tools) -> Service:
    """Asks back wherever it can, with previews."""
    able = replace(
        tools,
        values=StoredValues(ValueStore(pool)),
        memory=LearningStore(pool, LEARNING),
        learning=LEARNING,
        dialogue=DialogueSettings(questions=3, abstention=1.0),
    )
    return serving(able, pool, Limits(k=3, calls=6))


async def everything(service: Service, question: str, model: ScriptedLLM, **options: Any) -> str:
    """The answer, its explanation, its trace and its prompts."""
    reply = await service.ask(AskRequest(ANA, question, **options))
    topics = [
        await service.topic(TopicRequest(ANA, topic, reply.qid))
        for topic in (Topic.PROMPT, Topic.WHY, Topic.EXPLAIN)
    ]
    return f"{reply} {[each.rows for each in topics]} {model.prompts}"


async def test_units_and_time_zones_are_told(asking: Service, model: ScriptedLLM, pool: Any) -> None:
    model.lines = ["SELECT age FROM singer"]
    await pool.execute(f"{SET}('music.singer.age', 'unit', 'years')")
    await pool.execute(f"{SET}('music.singer.age', 'time_zone', 'UTC')")
    told = await everything(asking, "age of all singers", model, ask=False)
    assert 'age int "in years, time zone UTC"' in told
    assert "age in years; age in the time zone UTC" in told


async def test_what_is_deprecated_is_ranked_behind(asking: Service, model: ScriptedLLM, pool: Any) -> None:
    model.lines = ["SELECT name FROM singer", "SELECT stage_name FROM singer"]
    question = AskRequest(ANA, "names of all singers", ask=False)
    before = [row.sql for row in (await asking.ask(question)).rows]
    assert before[0] is not None
    column = before[0].split()[1]
    await pool.execute(f"{SET}('music.singer.{column}', 'status', 'deprecated')")
    model.prompts.clear()
    reply = await asking.ask(question)
    assert len(reply.rows) == len(before)
    assert reply.rows[-1].sql == before[0]
    assert f"reads singer.{column}, which is deprecated" in reply.rows[-1].explanation
    assert '"deprecated"' in model.prompts[0].user


async def test_a_value_of_a_sensitive_column_is_nowhere(
    asking: Service, model: ScriptedLLM, pool: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await keep(pool, "music", FAMILY, "Birk", "Cole")
    # The first one fails on the data, in words of the server that hold a value: kept is the SQLSTATE alone.
    model.lines = ["SELECT CAST(family_name AS integer) FROM singer", "SELECT family_name, name FROM singer"]
    before = await everything(asking, "the family name of all singers like birk", model)
    assert "Birk" in before
    assert "22P02" in before
    assert "invalid input syntax" not in before
    taught = await asking.ask(AskRequest(ANA, "singers of the family", ask=False))
    await pool.execute(f"{SET}('music.singer.family_name', 'sensitivity', 'sensitive')")
    model.prompts.clear()
    caplog.clear()
    after = await everything(asking, "the family name of all singers like birk", model)
    assert "family_name" in after
    for text in (after, caplog.text, *map(str, model.prompts)):
        for value in ("Birk", "Cole", "invalid input syntax"):
            assert value not in text
    assert taught.rows
    assert (await asking.choose(ChooseRequest(ANA, taught.qid, 1))).sql


async def test_an_example_with_a_sensitive_value_is_not_shown_to_the_model(
    asking: Service, model: ScriptedLLM, pool: Any
) -> None:
    await pool.execute(
        "SELECT nl_catalog.verify('music', 'How old is the singer of the house?',"
        " 'SELECT age FROM singer WHERE family_name = ''Birk''')"
    )
    await pool.execute("UPDATE pgparley.definition SET state = 'checked'")
    model.lines = ["SELECT age FROM singer"]
    before = await everything(asking, "How old is each singer of the house?", model, ask=False)
    await pool.execute(f"{SET}('music.singer.family_name', 'sensitivity', 'sensitive')")
    model.prompts.clear()
    after = await everything(asking, "How old is each singer of the house?", model, ask=False)
    assert ("Birk" in before, "Birk" in after) == (True, False)
