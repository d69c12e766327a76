"""What is no question, or not in English: refused or translated before any statement is written."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.link.missing_values import check_literals
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
from engine.values.settings import DialogueSettings, Limits
from engine.values.state import Route, State
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed
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
        ("SELECT name FROM singer", "Nothing in music is about \u201csalary\u201d"),
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
