"""What a follow-up goes on from."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.api.dialogues import in_dialogue
from engine.core.candidate import Candidate
from engine.dialogue.types import Ambiguity, ClarifyingQuestion, Dialogue, FollowUp, Stored
from engine.errors import UnknownQuestionError
from engine.types import AnswerRow, Asker, AskReply, AskRequest, RowKind

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


def test_the_statement_that_was_taken_and_the_question_as_it_was_read() -> None:
    request, dialogue = read(FIRST)
    assert (request.db, request.after) == ("music", None)
    assert dialogue.follow_up == FollowUp("How many singers?", "SELECT 1", "only the west")


def test_behind_a_question_back_what_is_likeliest() -> None:
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
