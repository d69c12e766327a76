"""What can be asked of an answer: run, more, correct, plan, why, prompt, history, forget."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from engine.app.service import Service
from engine.values.errors import InvalidSettingError, SyntaxProblemError, UnknownQuestionError, UnsafeSQLError
from engine.values.messages import (
    Asker,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    RowKind,
    ShowRequest,
    Topic,
    TopicRequest,
)

ANA = Asker("ana", "music")
AWAY = Asker("ana", "copy")
BOB = Asker("bob", "music")
QUESTION = "name of each singer"


async def ask(service: Service, question: str = QUESTION, **more: Any) -> Any:
    return await service.ask(AskRequest(ANA, question, **more))


async def test_set_is_counted_before_it_is_cut(service: Service) -> None:
    reply = await ask(service, k=1)
    assert len(reply.rows) == 1
    assert reply.members >= 1


async def test_run_looks_for_a_second_statement(service: Service, model: Any) -> None:
    reply = await ask(service, k=1, run=True)
    assert (len(reply.rows), reply.members) == (1, 2)
    model.lines[:] = ["SELECT age FROM singer"]
    reply = await ask(service, k=1, run=True)
    assert reply.members == 1, "nothing else is near to what was asked"


async def test_run_is_no_choice_of_a_person(service: Service, pool: Any) -> None:
    reply = await ask(service)
    await service.choose(ChooseRequest(ANA, reply.qid, 1, learn=False))
    assert await pool.fetchval("SELECT count(*) FROM pgparley.choice") == 0
    await service.choose(ChooseRequest(ANA, reply.qid, 2))
    assert await pool.fetch("SELECT qid, n FROM pgparley.choice") == [(reply.qid, 2)]


async def test_more_shows_nothing_twice(service: Service) -> None:
    first = await ask(service)
    second = await service.more(MoreRequest(ANA, first.qid))
    third = await service.more(MoreRequest(ANA, second.qid))
    shown = [row.sql for reply in (first, second) for row in reply.rows]
    assert len(shown) == len(set(shown)) == 3
    assert first.qid != second.qid
    assert [row.kind for row in third.rows] == [RowKind.ABSTAIN]
    assert "or the same rows as before" in third.rows[0].explanation
    with pytest.raises(UnknownQuestionError):
        await service.more(MoreRequest(BOB, first.qid))


async def test_other_database_is_read_there(service: Service) -> None:
    reply = await ask(service)
    assert (await service.choose(ChooseRequest(AWAY, reply.qid, 1))).rows
    # Without the session it cannot be told that this is the same database: its name says nothing.
    assert not (await service.choose(ChooseRequest(ANA, reply.qid, 1))).in_place


async def test_more_rows_than_the_limit_are_refused_in_the_words_of_the_surface(service: Service) -> None:
    with pytest.raises(InvalidSettingError) as refused:
        await service.ask(AskRequest(ANA, "how many?", k=11))
    assert refused.value.message == 'invalid value for parameter "nl.k": "11"'
    assert refused.value.hint == "It is a whole number from 1 to 10."


async def test_a_correction_behind_an_abstention_knows_its_database(service: Service, model: Any) -> None:
    model.lines[:] = ["SELECT nothing FROM nowhere"]
    elsewhere = Asker("ana", "postgres")
    reply = await service.ask(AskRequest(elsewhere, QUESTION))
    assert [row.kind for row in reply.rows] == [RowKind.ABSTAIN]
    assert reply.databases == ("music",)
    (row,) = (await service.correct(CorrectRequest(elsewhere, reply.qid, "SELECT name FROM singer"))).rows
    assert (row.database, row.kind) == ("music", RowKind.VERIFIED)
    greeting = await service.ask(AskRequest(elsewhere, "hello"))
    (row,) = (await service.correct(CorrectRequest(elsewhere, greeting.qid, "SELECT age FROM singer"))).rows
    assert row.database == "music"


async def test_plan(service: Service) -> None:
    reply = await ask(service)
    away = await service.plan(PlanRequest(AWAY, reply.qid, 1))
    assert [column.name for column in away.columns] == ["QUERY PLAN"]
    assert "singer" in (away.rows[0][0] or "")
    with pytest.raises(InvalidSettingError):
        await service.plan(PlanRequest(ANA, reply.qid, 9))


async def test_correction_becomes_a_row_that_can_be_chosen(service: Service, pool: Any) -> None:
    reply = await ask(service)
    told = await service.correct(CorrectRequest(ANA, reply.qid, "SELECT max(age) FROM singer -- oldest"))
    (row,) = told.rows
    assert (row.n, row.kind, row.database, row.confidence) == (3, RowKind.VERIFIED, "music", None)
    assert row.sql == "SELECT max(age) FROM singer"
    stored = await service.show(ShowRequest(ANA, reply.qid))
    assert [each.n for each in stored.rows] == [1, 2, 3]
    assert (await service.choose(ChooseRequest(ANA, reply.qid, 3))).sql == row.sql
    kept = await pool.fetchrow("SELECT kind, database, body FROM pgparley.verdict")
    assert tuple(kept) == ("corrected", "music", "SELECT max(age) FROM singer")


REFUSED = [
    ("DELETE FROM singer", UnsafeSQLError),
    ("SELECT nothing FROM singer", SyntaxProblemError),
    ("SELECT salary FROM singer", SyntaxProblemError),
    ("SELECT name FROM singer WHERE age = 'x'", SyntaxProblemError),
]


async def test_correction_that_would_not_run_is_refused(service: Service, pool: Any) -> None:
    reply = await ask(service)
    for sql, error in REFUSED:
        with pytest.raises(error) as caught:
            await service.correct(CorrectRequest(ANA, reply.qid, sql))
        assert caught.value.detail, sql
    assert await pool.fetchval("SELECT count(*) FROM pgparley.verdict") == 0
    with pytest.raises(UnknownQuestionError):
        await service.correct(CorrectRequest(BOB, reply.qid, "SELECT 1"))


async def test_why_and_explain(service: Service) -> None:
    reply = await ask(service)
    why = await service.topic(TopicRequest(ANA, Topic.WHY, reply.qid))
    assert why.rows == tuple((t.stage, t.event, t.detail, t.score) for t in reply.trace)
    assert {row[0] for row in why.rows} >= {"route", "write", "judge"}
    words = dict((await service.topic(TopicRequest(ANA, Topic.EXPLAIN, reply.qid, 1))).rows)
    assert words["statement"] == reply.rows[0].sql
    assert words["database"] == "music"


async def test_prompt_is_what_was_sent_and_holds_nothing_unreadable(service: Service, model: Any) -> None:
    reply = await ask(service)
    rows = (await service.topic(TopicRequest(ANA, Topic.PROMPT, reply.qid))).rows
    assert [row[2] for row in rows if row[1] == "user"] == [prompt.user for prompt in model.prompts]
    assert {row[1] for row in rows} == {"system", "user", "assistant"}
    assert "singer" in str(rows)
    assert "salary" not in str(rows)


async def test_history_and_verdicts(service: Service) -> None:
    first = await ask(service, "first name of each singer")
    second = await ask(service, "second name of each singer")
    await service.choose(ChooseRequest(ANA, first.qid, 2))
    other = await service.none(NoneRequest(ANA, second.qid, why="it's wrong"))
    rows = (await service.topic(TopicRequest(ANA, Topic.HISTORY))).rows
    assert rows[0][1] == other.qid
    assert [row[1:] for row in rows[1:]] == [
        (second.qid, "second name of each singer", len(second.rows), None, "none"),
        (first.qid, "first name of each singer", 2, 2, None),
    ]
    assert len((await service.topic(TopicRequest(ANA, Topic.HISTORY, n=1))).rows) == 1
    assert (await service.topic(TopicRequest(BOB, Topic.HISTORY))).rows == ()


async def test_forget(service: Service, pool: Any) -> None:
    replies = [await ask(service) for _ in range(3)]
    await service.choose(ChooseRequest(ANA, replies[0].qid, 1))
    with pytest.raises(UnknownQuestionError):
        await service.topic(TopicRequest(BOB, Topic.FORGET, replies[0].qid))
    assert (await service.topic(TopicRequest(BOB, Topic.FORGET))).rows == ((0,),)
    assert (await service.topic(TopicRequest(ANA, Topic.FORGET, replies[0].qid))).rows == ((1,),)
    assert await pool.fetchval("SELECT count(*) FROM pgparley.choice") == 0
    assert (await service.topic(TopicRequest(ANA, Topic.FORGET))).rows == ((2,),)
    with pytest.raises(UnknownQuestionError):
        await service.show(ShowRequest(ANA, replies[1].qid))


async def test_a_question_is_its_askers_alone(service: Service) -> None:
    reply = await ask(service)
    topics = (Topic.EXPLAIN, Topic.WHY, Topic.PROMPT, Topic.FORGET)
    for topic, (qid, asker) in product(topics, ((reply.qid, BOB), ("q000000", ANA))):
        with pytest.raises(UnknownQuestionError, match=f'no question "{qid}"'):
            await service.topic(TopicRequest(asker, topic, qid, 1))
