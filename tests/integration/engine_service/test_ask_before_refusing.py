"""No question is refused for its words alone where somebody can say more: the asker's place, the values, the model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.link.source import StoredValues
from engine.values.messages import Asker, AskReply, AskRequest, RowKind
from engine.values.settings import GenerationSettings, Limits, Strategy
from engine.values.tools import Tools
from schema_catalog.values import ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed, deny, keep
from tests.support.scripted import ScriptedLLM

HERE, AWAY = Asker("ana", "music"), Asker("ana", "store")
"""Connected to a registered database, and to one that is not."""

FAMILY, SALARY = ("public", "singer", "family_name"), ("public", "singer", "salary")
FAR = "Who was busiest?"
BIRK = "When did Birk start?"
NOWHERE = "No database that you may read seems to hold this"


def said(*sql: str, cannot: str | None = None, database: str = "music") -> str:
    readings = [{"meaning": "one", "sql": each, "assumes": "", "database": database} for each in sql]
    return json.dumps({"readings": readings, "cannot": cannot})


@pytest.fixture
def strong() -> ScriptedLLM:
    return ScriptedLLM([said("SELECT name FROM singer ORDER BY age DESC LIMIT 1")])


@pytest.fixture
def values(pool: Any) -> StoredValues:
    return StoredValues(ValueStore(pool))


@pytest.fixture
def asking(pool: Any, tools: Tools, strong: ScriptedLLM, values: StoredValues) -> Service:
    """With a model that is asked for readings."""
    settings = GenerationSettings(strategy=Strategy.READINGS)
    built = replace(tools, model=strong, generation=settings, values=values)
    return serving(built, pool, Limits(k=3, calls=4))


@pytest.fixture
def searching(pool: Any, tools: Tools, values: StoredValues) -> Service:
    """With a model that writes something whatever it is asked."""
    return serving(replace(tools, values=values), pool, Limits(k=1, calls=1))


async def ask(service: Service, question: str, asker: Asker = HERE, **more: Any) -> AskReply:
    return await service.ask(AskRequest(asker, question, **more))


@pytest.mark.parametrize("asker", [HERE, AWAY], ids=["connected", "not connected"])
async def test_the_model_is_asked_what_no_name_stands_for(
    asking: Service, strong: ScriptedLLM, asker: Asker
) -> None:
    reply = await ask(asking, FAR, asker)
    assert [(row.kind, row.database) for row in reply.rows] == [(RowKind.CANDIDATE, "music")]
    assert FAR in strong.prompts[0].user


async def test_what_the_model_cannot_answer_is_refused_in_its_words(
    asking: Service, strong: ScriptedLLM
) -> None:
    strong.lines[:] = [said(cannot="There is nothing about work")]
    (row,) = (await ask(asking, FAR)).rows
    assert (row.kind, row.sql) == (RowKind.ABSTAIN, None)
    assert row.explanation.startswith("There is nothing about work.")


async def test_one_that_writes_whatever_it_is_asked_is_asked_of_nothing_far(
    searching: Service, model: ScriptedLLM
) -> None:
    away, here = await ask(searching, FAR, AWAY), await ask(searching, "Boil eggs softly")
    assert away.rows[0].explanation.startswith(NOWHERE)
    assert here.rows[0].explanation.startswith("Nothing in music is about \u201c")
    assert model.prompts == []


async def test_an_allowed_value_is_near_as_soon_as_it_is_allowed_and_no_longer(
    searching: Service, pool: Any
) -> None:
    assert (await ask(searching, BIRK, AWAY)).rows[0].explanation.startswith(NOWHERE)
    await keep(pool, "music", FAMILY, "Ash", "Birk")
    reply = await ask(searching, BIRK, AWAY)
    assert reply.databases == ("music",)
    assert any("values Birk" in line.detail for line in reply.trace)
    await deny(pool, "music", FAMILY)
    assert (await ask(searching, BIRK, AWAY)).rows[0].explanation.startswith(NOWHERE)


async def test_a_value_that_the_asker_may_not_read_is_near_to_nothing(searching: Service, pool: Any) -> None:
    await keep(pool, "music", SALARY, "Birk")
    assert (await ask(searching, BIRK, AWAY)).rows[0].explanation.startswith(NOWHERE)


async def test_a_far_stronger_database_is_shown_to_the_model_beside_the_own_one(
    asking: Service, strong: ScriptedLLM, pool: Any
) -> None:
    kennel = "CREATE TABLE kennel (kennel_area int, kennel_street text)"
    await changed(pool, "copy", kennel, "GRANT SELECT ON pets, kennel TO ana")
    strong.lines[:] = [said("SELECT kennel_area FROM kennel", database="copy")]
    reply = await ask(asking, "kennel area of each kennel street")
    assert reply.rows[0].database == "copy"
    assert set(reply.databases) == {"copy", "music"}
    user = strong.prompts[0].user
    assert "database copy" in user
    assert "database music" in user


async def test_a_question_by_itself_may_be_about_the_last_answers_database(
    searching: Service, pool: Any
) -> None:
    first = await ask(searching, "names of singers", AWAY)
    question = "How many names do I see in it?"
    unasked = "Which waiting lasted longest?"
    assert (await ask(searching, unasked, AWAY)).rows[0].explanation.startswith(NOWHERE)
    reply = await ask(searching, unasked, AWAY, after=first.qid)
    assert reply.databases == ("music",)
    again = await ask(searching, question, AWAY, after=reply.qid)
    assert again.databases == ("music",), "behind a refusal as well"
