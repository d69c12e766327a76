"""Answers without the model: of the catalog, by an answer that there was before, or by a verified statement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.app.repeats import Repeats
from engine.app.service import Service
from engine.upstream import Databases
from engine.values.errors import CancelledError
from engine.values.messages import (
    Asker,
    AskRequest,
    ChooseRequest,
    MoreRequest,
    NoneRequest,
    OnDoubt,
    RowKind,
    ShowRequest,
    Topic,
    TopicRequest,
)
from engine.values.settings import DialogueSettings, UpstreamSettings
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")

ASK = AskRequest(ANA, "name of each singer")

HOUR = Repeats("recipe", 3600.0)


@pytest.fixture
def repeating(tools: Tools, pool: Any) -> Service:
    return serving(tools, pool, repeats=HOUR)


async def test_the_same_question_gets_the_answer_that_it_had(
    repeating: Service, model: ScriptedLLM, pool: Any
) -> None:
    first = await repeating.ask(ASK)
    calls = len(model.prompts)
    again = await repeating.ask(replace(ASK, timeout=5.0))
    assert len(model.prompts) == calls > 0
    assert (again.qid, again.usage.calls) == (first.qid, 0)
    assert [row.sql for row in again.rows] == [row.sql for row in first.rows]
    (told,) = again.notices
    assert told.startswith("from ")
    assert told.endswith(" UTC; NL MORE asks again")
    assert again.rows[0].explanation.endswith(told)
    assert again.seconds < 1
    assert (await repeating.show(ShowRequest(ANA, first.qid))).rows == first.rows
    assert (await repeating.choose(ChooseRequest(ANA, again.qid, 1))).rows
    await repeating.more(MoreRequest(ANA, again.qid))
    assert len(model.prompts) > calls


OTHERS = [
    replace(ASK, question="names of each singer"),
    replace(ASK, k=1),
    replace(ASK, db="music"),
    replace(ASK, run=True),
    replace(ASK, ask=False),
    replace(ASK, coverage=0.5),
    replace(ASK, on_doubt=OnDoubt.ABSTAIN),
    replace(ASK, asker=Asker("ana", "postgres")),
]


async def test_another_question_is_another_one(repeating: Service, model: ScriptedLLM) -> None:
    first = await repeating.ask(ASK)
    for other in OTHERS:
        calls = len(model.prompts)
        assert (await repeating.ask(other)).qid != first.qid, other
        assert len(model.prompts) > calls, other


async def test_so_it_is_for_somebody_else(repeating: Service, owner: Any) -> None:
    await owner.execute("GRANT SELECT (singer_id, name, stage_name, family_name, age) ON singer TO bob")
    first = await repeating.ask(ASK)
    assert (await repeating.ask(replace(ASK, asker=Asker("bob", "music")))).qid != first.qid


CHANGES = [
    "UPDATE pgparley.catalog_version SET version = version + 1",
    "UPDATE pgparley.learning_version SET version = version + 1",
    "UPDATE pgparley.question SET asked_at = now() - interval '61 minutes'",
]


async def test_what_may_have_changed_is_thought_over(repeating: Service, pool: Any) -> None:
    before = (await repeating.ask(ASK)).qid
    for change in CHANGES:
        await pool.execute(change)
        after = (await repeating.ask(ASK)).qid
        assert after != before, change
        before = after


async def test_other_settings_and_programs_think_for_themselves(tools: Tools, pool: Any) -> None:
    def service(recipe: str, seconds: float = 3600.0, **changes: Any) -> Service:
        return serving(replace(tools, **changes), pool, repeats=Repeats(recipe, seconds))

    first = await service("one").ask(ASK)
    assert (await service("one").ask(ASK)).qid == first.qid
    doubting = replace(tools.dialogue, on_doubt=OnDoubt.ABSTAIN)
    for other in (service("two"), service("one", 0.0), service("one", dialogue=doubting)):
        assert (await other.ask(ASK)).qid != first.qid


async def test_rights_are_those_of_now(tools: Tools, pool: Any, owner: Any) -> None:
    upstream = Databases(UpstreamSettings(pool_size=2, privileges_ttl=0.0))
    service = serving(replace(tools, upstream=upstream), pool, repeats=HOUR)
    first = await service.ask(ASK)
    assert (await service.ask(ASK)).qid == first.qid
    await owner.execute("REVOKE SELECT (stage_name) ON singer FROM ana")
    assert (await service.ask(ASK)).qid != first.qid
    await upstream.aclose()


async def test_a_rejected_answer_does_not_come_back(repeating: Service) -> None:
    first = await repeating.ask(ASK)
    await repeating.none(NoneRequest(ANA, first.qid))
    assert (await repeating.ask(ASK)).qid != first.qid


async def test_no_answer_is_no_answer_to_repeat(repeating: Service, model: ScriptedLLM) -> None:
    model.lines[:] = ["SELECT nothing FROM nowhere"]
    first = await repeating.ask(ASK)
    assert first.rows[0].kind is RowKind.ABSTAIN
    model.lines[:] = ["SELECT name FROM singer"]
    assert (await repeating.ask(ASK)).rows[0].sql == "SELECT name FROM singer"


async def test_a_question_back_waits_as_it_did(tools: Tools, pool: Any, model: ScriptedLLM) -> None:
    asking = replace(tools, dialogue=DialogueSettings(question=0.01, row=0.2, abstention=1.0))
    service = serving(asking, pool, repeats=HOUR)
    first = await service.ask(ASK)
    assert first.rows[0].kind is RowKind.OPTION
    again = await service.ask(ASK)
    assert (again.qid, again.rows) == (first.qid, first.rows)
    assert again.notices


async def test_the_look_for_it_takes_from_the_questions_time(repeating: Service) -> None:
    with pytest.raises(CancelledError):
        await repeating.ask(replace(ASK, timeout=1e-6))


ANSWERED = [
    ("how many rows has each table?", (("singer", "2"),)),
    ("which values does age have?", (("32",), ("52",))),
    (
        "what does stage name mean?",
        (("singer.stage_name", "text", "the catalog says no more than its name"),),
    ),
    (
        "which tables have singer data?",
        (("singer", "singer_id", "the catalog says no more than its name"),),
    ),
]


async def test_it_is_answered_by_a_statement_that_runs(service: Service, model: ScriptedLLM) -> None:
    for question, rows in ANSWERED:
        reply = await service.ask(AskRequest(ANA, question))
        assert [row.database for row in reply.rows] == ["music"], question
        assert (await service.choose(ChooseRequest(ANA, reply.qid, 1))).rows == rows
        assert (model.prompts, reply.usage.calls) == ([], 0), question


async def test_what_the_asker_may_not_read_is_in_none_of_them(service: Service) -> None:
    for question in ("what is in this database?", "which columns does singer have?"):
        (row,) = (await service.ask(AskRequest(ANA, question))).rows
        assert "stage_name" in (row.sql or "")
        assert "salary" not in f"{row.sql} {row.explanation}"


async def test_what_names_nothing_here_is_a_question_like_any_other(
    service: Service, model: ScriptedLLM
) -> None:
    await service.ask(AskRequest(ANA, "what does the salary of a singer mean?"))
    assert model.prompts, "ana may not read it, and is told no more than of what does not exist"


async def test_more_asks_the_model(service: Service, model: ScriptedLLM) -> None:
    reply = await service.ask(AskRequest(ANA, "which values does age have?"))
    await service.more(MoreRequest(ANA, reply.qid))
    assert model.prompts


async def test_what_is_proposed_by_help_is_answered(service: Service) -> None:
    shown = (await service.topic(TopicRequest(ANA, Topic.HELP))).rows
    assert len(shown) > 2
    for command, _ in shown:
        opening, text, _ = str(command).split("$$")
        assert opening == "NL (db music): "
        assert (await service.ask(AskRequest(ANA, text, db="music"))).rows[0].sql
    assert (await service.topic(TopicRequest(replace(ANA, user="bob"), Topic.HELP))).rows == ()
