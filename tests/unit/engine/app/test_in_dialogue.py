"""What a follow-up goes on from."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.app.answer_rows import answer_rows
from engine.app.dialogues import in_dialogue
from engine.values.candidate import Candidate, Meaning
from engine.values.dialogue import Ambiguity, Before, ClarifyingQuestion, Dialogue, FollowUp, Stored
from engine.values.errors import UnknownQuestionError
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, RowKind
from tests.support.asking import asked, route

ANN = Asker("ann", "sales")
LIKELIEST = Candidate("music", "SELECT 2")
PENDING = Dialogue(survivors=(LIKELIEST,), pending=ClarifyingQuestion(Ambiguity.QUESTION, "Which?", ()))
ROW = AnswerRow(1, RowKind.CANDIDATE, "music", 0.5, "", "SELECT 1", None, "q1")
FIRST = Stored(AskRequest(ANN, "How many?"), AskReply("q1", (ROW,)), Dialogue(read_as="How many singers?"))


class OneQuestion:
    """A store of `stored`; of nothing where that is None."""

    def __init__(self, stored: Stored | None) -> None:
        self._stored = stored

    async def stored(self, *_: object) -> Stored:
        if self._stored is None:
            raise UnknownQuestionError("no such question")
        return self._stored

    async def taken(self, stored: Stored) -> AnswerRow | None:
        return next(iter(stored.reply.rows), None)


def read(stored: Stored | None, text: str = "only the west", **asked: Any) -> tuple[AskRequest, Dialogue]:
    request = AskRequest(ANN, text, after="q1", **asked)
    return asyncio.run(in_dialogue(request, cast("Any", OneQuestion(stored))))


def test_it_goes_on_from_what_was_taken_and_behind_a_question_back_from_what_is_likeliest() -> None:
    request, dialogue = read(FIRST)
    assert (request.db, request.after) == ("music", None)
    assert dialogue.follow_up == FollowUp("How many singers?", "SELECT 1", "only the west")
    _, dialogue = read(replace(FIRST, reply=AskReply("q1", ()), dialogue=PENDING))
    assert dialogue.follow_up == FollowUp("How many?", "SELECT 2", "only the west")


@pytest.mark.parametrize(
    ("stored", "text", "db", "database"),
    [
        (None, "only the west", None, None),
        (replace(FIRST, reply=AskReply("q1", ())), "only the west", None, None),
        (FIRST, "How many?", None, "music"),
        (FIRST, "How many concerts are there?", None, "music"),
        (FIRST, "only the west", "shop", "music"),
        (replace(FIRST, reply=AskReply("q1", ()), dialogue=Dialogue(database="zoo")), "only it", None, "zoo"),
    ],
    ids=["expired", "no statement", "the same once more", "by itself", "of another database", "refused"],
)
def test_what_goes_on_from_nothing_has_its_database_along(
    stored: Stored | None, text: str, db: str | None, database: str | None
) -> None:
    assert read(stored, text, db=db) == (AskRequest(ANN, text, db=db), Dialogue(database=database))


def test_what_has_nothing_before_it() -> None:
    request = AskRequest(ANN, "only the west")
    assert asyncio.run(in_dialogue(request, cast("Any", OneQuestion(FIRST)))) == (request, Dialogue())


def by_model(stored: Stored, text: str, db: str | None = None) -> tuple[AskRequest, Dialogue]:
    request = AskRequest(ANN, text, after="q1", db=db)
    return asyncio.run(in_dialogue(request, cast("Any", OneQuestion(stored)), by_model=True))


@pytest.mark.parametrize(
    "text",
    ["how long have they been waiting?", "How many concerts are there?", "only the west", "Umsatz je Land"],
)
def test_whether_a_question_goes_on_is_the_models_to_say(text: str) -> None:
    before = FollowUp("How many and where?", "SELECT 0", "How many?", "all of them")
    meant = replace(LIKELIEST, sql="SELECT 1", meaning=Meaning(0, "those that wait"))
    stored = replace(
        FIRST, dialogue=Dialogue(read_as="How many wait?", follow_up=before, survivors=(LIKELIEST, meant))
    )
    request, dialogue = by_model(stored, text)
    assert (request.db, dialogue.database) == (None, "music"), "it may be of another database"
    assert dialogue.follow_up == FollowUp(
        "How many wait?",
        "SELECT 1",
        text,
        "those that wait",
        (Before("How many and where?", "SELECT 0", "all of them"),),
    )


@pytest.mark.parametrize(
    "text", ["How many?", "delete all singers", "hello there", "which columns does orders have?"]
)
def test_what_no_model_is_asked_about_goes_on_from_nothing(text: str) -> None:
    assert by_model(FIRST, text)[1].follow_up is None
    assert by_model(FIRST, "only the west", db="shop")[1].follow_up is None


def test_how_it_was_read_is_said_once_by_the_reading_of_which_it_is_true() -> None:
    given = [
        Candidate("music", f"SELECT {n}", meaning=Meaning(n, str(n)), explanation=str(n)) for n in range(3)
    ]
    told = replace(asked("and 2015?", route("and 2015?")), dialogue=Dialogue(read_as="How many in 2015?"))
    rows = answer_rows(told, (given[1], given[0], given[2]), "q1")
    assert [row.explanation for row in rows] == ["1", "Read as: \u201cHow many in 2015?\u201d. 0", "2"]
    searched = [replace(each, meaning=Meaning()) for each in given]
    assert [row.explanation for row in answer_rows(told, searched, "q1")][1:] == ["1", "2"]
    assert answer_rows(told, (), "q1")[0].explanation.startswith("Read as: ")
