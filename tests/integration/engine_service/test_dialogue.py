"""A question that may mean several things is asked back, and the answer decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.app.metrics import Metrics
from engine.app.schema_watch import SchemaWatch
from engine.app.service import Service
from engine.values.errors import NeedsAnswerError, StaleDialogueError, UnknownQuestionError, UnsupportedError
from engine.values.messages import (
    AnswerRequest,
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    RowKind,
    ShowRequest,
)
from engine.values.settings import CatalogSettings, DialogueSettings, Limits
from engine.values.tools import Tools
from schema_catalog.made_store import Made, MadeStore
from tests.integration.engine_service.conftest import serving

ANA, BOB = Asker("ana", "music"), Asker("bob", "music")
QUESTION = "name of each singer"
ASKING = DialogueSettings(question=0.01, row=0.2, abstention=1.0)


@pytest.fixture
def asking(pool: Any, tools: Tools) -> Service:
    return serving(replace(tools, dialogue=ASKING), pool, Limits(k=3, calls=6))


def kinds(reply: AskReply) -> set[RowKind]:
    return {row.kind for row in reply.rows}


async def asked(service: Service, **more: Any) -> AskReply:
    reply = await service.ask(AskRequest(ANA, QUESTION, **more))
    assert kinds(reply) == {RowKind.OPTION}
    return reply


async def test_options_say_what_they_mean_and_how_to_answer(asking: Service) -> None:
    reply = await asked(asking)
    *options, own = reply.rows
    assert len(options) >= 2
    assert [row.next for row in options] == [
        f"NL ANSWER {n} OF '{reply.qid}'" for n in range(1, len(options) + 1)
    ]
    assert own.next == f"NL ANSWER $$in your own words$$ OF '{reply.qid}'"
    assert all(row.sql is None for row in reply.rows)
    said = " ".join(row.explanation for row in options)
    assert "stage name" in said
    assert "Joe" in said or "Ash" in said, "the first rows of what an option gives stand beside it"


async def test_an_answer_leaves_what_agrees_with_it(asking: Service, model: Any) -> None:
    reply = await asked(asking)
    calls = len(model.prompts)
    number = next(row.n for row in reply.rows if "stage name" in row.explanation)
    answered = await asking.answer(AnswerRequest(ANA, reply.qid, n=number))
    assert [row.sql for row in answered.rows] == ["SELECT stage_name FROM singer"]
    assert len(model.prompts) == calls, "what is left needs no model"
    chosen = await asking.choose(ChooseRequest(ANA, answered.qid, 1))
    assert "stage_name" in chosen.sql


async def test_own_words_reach_the_model(asking: Service, model: Any) -> None:
    reply = await asked(asking)
    model.lines[:] = ["SELECT family_name FROM singer"]
    answered = await asking.answer(AnswerRequest(ANA, reply.qid, text="the name of the family"))
    assert answered.rows[0].sql == "SELECT family_name FROM singer"
    assert "the name of the family" in model.prompts[-1].user


async def test_a_rejection_shows_what_is_left_and_then_tells_the_model(asking: Service, model: Any) -> None:
    reply = await asking.ask(AskRequest(ANA, QUESTION, ask=False))
    shown = {row.sql for row in reply.rows}
    assert kinds(reply) == {RowKind.CANDIDATE}
    model.lines[:] = ["SELECT age FROM singer"]
    other = await asking.none(NoneRequest(ANA, reply.qid, why="not a name"))
    assert not shown & {row.sql for row in other.rows}
    assert "SELECT name FROM singer" in model.prompts[-1].user
    assert "not a name" in model.prompts[-1].user


async def test_what_waits_has_no_statement(asking: Service) -> None:
    reply = await asked(asking)
    for verb, request in (
        (asking.choose, ChooseRequest(ANA, reply.qid, 1)),
        (asking.plan, PlanRequest(ANA, reply.qid, 1)),
    ):
        with pytest.raises(NeedsAnswerError) as problem:
            await verb(request)  # type: ignore[operator]
        assert (problem.value.sqlstate, problem.value.hint) == ("NL001", f"NL ANSWER n OF '{reply.qid}'")
    assert (await asking.show(ShowRequest(ANA, reply.qid))).rows == reply.rows


async def test_an_answer_to_what_was_not_asked(asking: Service) -> None:
    reply = await asking.ask(AskRequest(ANA, QUESTION, ask=False))
    with pytest.raises(UnsupportedError, match="waits for no answer"):
        await asking.answer(AnswerRequest(ANA, reply.qid, n=1))


async def test_somebody_elses_question(asking: Service) -> None:
    reply = await asked(asking)
    for answer in (AnswerRequest(BOB, reply.qid, n=1), AnswerRequest(ANA, "q222222", n=1)):
        with pytest.raises(UnknownQuestionError):
            await asking.answer(answer)
    with pytest.raises(UnknownQuestionError):
        await asking.none(NoneRequest(BOB, reply.qid))


async def test_another_engine_goes_on(asking: Service, pool: Any, tools: Tools) -> None:
    reply = await asked(asking)
    other = serving(replace(tools, dialogue=ASKING), pool, Limits(k=3, calls=6))
    answered = await other.answer(AnswerRequest(ANA, reply.qid, n=1))
    assert kinds(answered) == {RowKind.CANDIDATE}


async def test_a_rename_that_the_watch_finds_ends_it(
    asking: Service, pool: Any, owner: Any, tools: Tools
) -> None:
    reply = await asked(asking)
    await owner.execute("ALTER TABLE singer RENAME family_name TO surname")
    await SchemaWatch(pool, tools.upstream, Metrics(), CatalogSettings(), "").look()
    with pytest.raises(StaleDialogueError) as problem:
        await asking.answer(AnswerRequest(ANA, reply.qid, n=1))
    assert problem.value.sqlstate == "NL004"
    assert "changed" in (problem.value.detail or "")


async def test_what_a_model_says_of_the_schema_meanwhile_does_not_end_it(asking: Service, pool: Any) -> None:
    reply = await asked(asking)
    singer = ("public", "singer")
    made = Made((singer,), ((*singer, "name"),), ("who sings here",), {singer: ("artist",)})
    await MadeStore(pool).keep("music", made, "f", "a model")
    answered = await asking.answer(AnswerRequest(ANA, reply.qid, n=1))
    assert kinds(answered) == {RowKind.CANDIDATE}


async def test_nothing_unreadable_is_an_option(asking: Service) -> None:
    reply = await asked(asking)
    assert "salary" not in " ".join(row.explanation for row in reply.rows)


async def test_more_after_an_answer_stays_with_it(asking: Service, model: Any) -> None:
    reply = await asked(asking)
    answered = await asking.answer(AnswerRequest(ANA, reply.qid, n=1))
    shown = {row.sql for row in answered.rows}
    model.lines[:] = ["SELECT age FROM singer"]
    more = await asking.more(MoreRequest(ANA, answered.qid))
    assert not shown & {row.sql for row in more.rows}
    assert "Answered" in model.prompts[-1].user or more.rows[0].kind is RowKind.ABSTAIN
