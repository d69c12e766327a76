"""What is refused before a statement is written, and what is not where somebody can say more: values, the model."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.link.missing_values import check_literals
from engine.link.source import StoredValues
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.elements import Literal
from engine.values.errors import AbstainedError
from engine.values.messages import (
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    OnDoubt,
    PlanRequest,
    RowKind,
    ShowRequest,
)
from engine.values.settings import DialogueSettings, GenerationSettings, Limits, Strategy
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.values import ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed, deny, keep
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")

NAME = ("public", "singer", "name")

HIDDEN = """
CREATE TABLE salary_book (entry_id int, salary_paid_gross int);
ALTER TABLE singer ADD COLUMN salary_paid_gross int;
GRANT SELECT ON singer, salary_book TO bob;
"""
"""What a question for salaries comes nearest to, and ana may not read."""


async def test_an_order_is_refused_and_nothing_is_written(service: Service, model: ScriptedLLM) -> None:
    reply = await service.ask(AskRequest(ANA, "delete all singers from last year"))
    (row,) = reply.rows
    assert (row.kind, row.sql) == (RowKind.ABSTAIN, None)
    assert "nothing was changed" in row.explanation
    assert row.next == "NL: $$show all singers from last year$$"
    assert model.prompts == []
    assert reply.members == reply.usage.calls == 0
    assert [timing.stage for timing in reply.timings] == ["understand"]
    assert await service.show(ShowRequest(ANA, reply.qid)) == reply


async def test_an_abstention_has_nothing_to_choose(service: Service) -> None:
    reply = await service.ask(AskRequest(ANA, "hello"))
    for n in (1, 2):
        with pytest.raises(AbstainedError, match="has no answer"):
            await service.choose(ChooseRequest(ANA, reply.qid, n))
        with pytest.raises(AbstainedError):
            await service.plan(PlanRequest(ANA, reply.qid, n))


async def test_a_question_in_german_is_answered_and_shown_as_it_was_read(
    service: Service, model: ScriptedLLM
) -> None:
    model.lines[:] = ["What is the name of each singer?", *model.lines]
    reply = await service.ask(AskRequest(ANA, "Wie heißen alle Sänger?"))
    assert reply.rows[0].kind is RowKind.CANDIDATE
    assert reply.rows[0].sql == "SELECT name FROM singer"
    told = ["Read as: \u201cWhat is the name of each singer?\u201d" in row.explanation for row in reply.rows]
    assert told == [True, *[False] * (len(told) - 1)]
    assert "What is the name of each singer?" in model.prompts[1].user
    assert any("German" in line.event for line in reply.trace)


async def test_texts_are_looked_for_as_the_asker(tools: Tools, pool: Any) -> None:
    (entry,) = [each for each in await tools.catalog.entries() if each[0].name == "music"]
    route = Route(*entry, 1.0, tuple(table.key for table in entry[1].tables))
    now = time.monotonic()
    state = State(AskRequest(ANA, "singers"), Question("singers"), 1, 1, Deadline(now + 30), now)
    sql = "SELECT age FROM singer WHERE name IN ('Joe', 'Jo''e') OR name LIKE 'A%' OR family_name ILIKE '%SH'"
    found = await check_literals(Candidate("music", sql), route, state, tools)
    assert found.missing == (Literal(NAME, "Jo'e"),)
    assert {each.text for each in found.present} == {"Joe", "A%", "%SH"}


@pytest.fixture
async def abstaining(tools: Tools, pool: Any) -> Service:
    """Shows no statement that is not certain, of a database with what is `HIDDEN`."""
    await changed(pool, "music", HIDDEN)
    doubting = DialogueSettings(questions=0, abstention=0.0, on_doubt=OnDoubt.ABSTAIN)
    return serving(replace(tools, dialogue=doubting), pool, Limits(k=2, calls=2))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("SELECT nothing FROM nowhere", "No statement passed all checks; "),
        (
            "SELECT name FROM singer",
            "The closest statement shows name: nothing in music is about \u201csalary\u201d",
        ),
    ],
)
async def test_no_name_that_the_asker_may_not_read_shows(
    abstaining: Service, model: ScriptedLLM, written: str, said: str
) -> None:
    model.lines[:] = [written]
    of_bob, of_ana = [
        await abstaining.ask(AskRequest(Asker(name, "music"), "salary of each singer"))
        for name in ("bob", "ana")
    ]
    assert [reply.rows[0].kind for reply in (of_bob, of_ana)] == [RowKind.ABSTAIN] * 2
    assert "salary_book" in of_bob.rows[0].explanation
    assert of_ana.rows[0].explanation.startswith(said)
    assert "singer" in of_ana.rows[0].explanation
    assert not _named(of_ana, "salary_book", "paid_gross", "entry_id", "copy", "pets")


async def test_what_is_doubtful_is_shown_and_never_run(
    abstaining: Service, model: ScriptedLLM, tools: Tools, pool: Any
) -> None:
    settings = DialogueSettings(questions=0, abstention=0.0)
    showing = serving(replace(tools, dialogue=settings), pool, Limits(k=2, calls=2))
    model.lines[:] = ["SELECT name FROM singer"]
    for run in (False, True):
        reply = await showing.ask(AskRequest(ANA, "salary of each singer", run=run))
        assert "SELECT name FROM singer" in [row.sql for row in reply.rows]
        assert all("not sure: nothing here is about 'salary'" in row.explanation for row in reply.rows)
        assert reply.members == 0
    assert (await abstaining.ask(AskRequest(ANA, "salary of each singer"))).rows[0].kind is RowKind.ABSTAIN


async def test_a_database_that_the_asker_may_not_read_does_not_come_near(service: Service) -> None:
    away, there = [
        await service.ask(AskRequest(asker, "ids of pets")) for asker in (replace(ANA, dbname="store"), ANA)
    ]
    assert away.rows[0].kind is RowKind.ABSTAIN
    assert away.rows[0].explanation.startswith("No database that you may read seems to hold this")
    assert not _named(away, "copy")
    assert there.databases == ("music",), "who is connected to a database is asking it"
    assert not _named(there, "copy")


def _named(reply: AskReply, *names: str) -> list[str]:
    """Those of `names` that stand in the answer, or in the trace that `NL WHY` shows."""
    return [name for name in names if name in str((reply.rows, reply.trace))]


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
