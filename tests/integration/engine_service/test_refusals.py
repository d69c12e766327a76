"""What is no question, or not in English: refused or translated before any statement is written."""

from __future__ import annotations

import time
from typing import Any

from engine.api.service import Service
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.types import Asker, AskRequest, RowKind, ShowRequest
from engine.understanding.missing_values import check_literals
from engine.understanding.types import Literal
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")
NAME = ("public", "singer", "name")


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


async def test_what_is_no_question_is_told_what_a_question_is(service: Service, model: ScriptedLLM) -> None:
    for text in ("hello", "thanks!", "asdf", "???"):
        (row,) = (await service.ask(AskRequest(ANA, text))).rows
        assert row.kind is RowKind.ABSTAIN
        assert "no question" in row.explanation
        assert row.next
    assert model.prompts == []


async def test_sql_is_given_back(service: Service) -> None:
    (row,) = (await service.ask(AskRequest(ANA, "SELECT name, age FROM singer;"))).rows
    assert (row.kind, row.next) == (RowKind.ABSTAIN, "SELECT name, age FROM singer")


async def test_a_question_in_german_is_answered_and_shown_as_it_was_read(
    service: Service, model: ScriptedLLM
) -> None:
    model.lines[:] = ["What is the name of each singer?", *model.lines]
    reply = await service.ask(AskRequest(ANA, "Wie heißen alle Sänger?"))
    assert reply.rows[0].kind is RowKind.CANDIDATE
    assert reply.rows[0].sql == "SELECT name FROM singer"
    assert all(
        "Read as: \u201cWhat is the name of each singer?\u201d" in row.explanation for row in reply.rows
    )
    assert "What is the name of each singer?" in model.prompts[1].user
    assert any("German" in line.event for line in reply.trace)


async def test_a_question_that_cannot_be_translated_is_refused(service: Service, model: ScriptedLLM) -> None:
    model.lines[:] = ["What is the name of each singer?"]
    (row,) = (await service.ask(AskRequest(ANA, "Wie heißen alle Sänger über 30?"))).rows
    assert row.kind is RowKind.ABSTAIN
    assert "Ask in English" in row.explanation
    assert len(model.prompts) == 1


async def test_texts_are_looked_for_as_the_asker(tools: Tools, pool: Any) -> None:
    (entry,) = [each for each in await tools.catalog.entries() if each[0].name == "music"]
    route = Route(*entry, 1.0, tuple(table.key for table in entry[1].tables))
    now = time.monotonic()
    state = State(AskRequest(ANA, "singers"), 1, 1, Deadline(now + 30), now)
    sql = "SELECT age FROM singer WHERE name IN ('Joe', 'Jo''e') OR name LIKE 'A%' OR family_name ILIKE '%SH'"
    found = await check_literals(Candidate("music", sql), route, state, tools)
    assert found.missing == (Literal(NAME, "Jo'e"),)
    assert {each.text for each in found.present} == {"Joe", "A%", "%SH"}
