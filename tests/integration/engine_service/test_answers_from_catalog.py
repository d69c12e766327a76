"""Questions about the data itself are answered from the catalog, as the asker may read it, without the model."""

from __future__ import annotations

from dataclasses import replace

from engine.app.service import Service
from engine.values.messages import Asker, AskRequest, ChooseRequest, MoreRequest, Topic, TopicRequest
from tests.support.scripted import ScriptedLLM

ANA = Asker("ana", "music")


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
