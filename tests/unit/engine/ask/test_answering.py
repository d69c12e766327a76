"""Answers to a question back: which are valid, which candidates they leave, what they forbid and tell a model."""

from __future__ import annotations

import pytest

from engine.ask.question_back import agreeing, resolve
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.dialogue import Ambiguity, ClarifyingQuestion, Dialogue, Option, Turn
from engine.values.errors import InvalidSettingError, SyntaxProblemError
from engine.write.known_text import conversation_text

ARTIST = ("public", "singer", "artist_name")
PERFORMER = ("public", "singer", "performer_name")
COUNTRY = ("public", "singer", "country")

ASKED = "List the names of French singers"
QUESTION = ClarifyingQuestion(
    Ambiguity.COLUMN,
    'What do you mean by "names"?',
    (
        Option("artist name", ("SELECT 1", "SELECT 3"), frozenset({ARTIST, COUNTRY})),
        Option("performer name", ("SELECT 2",), frozenset({PERFORMER, COUNTRY})),
        Option("legal name"),
    ),
)
WAITING = Dialogue(pending=QUESTION)
CANDIDATES = [Candidate("music", f"SELECT {number}") for number in (3, 2, 1, 4)]


def test_a_number_chooses_an_option_with_its_statements() -> None:
    turn = resolve(WAITING, 2, Question(ASKED))
    assert turn == Turn(QUESTION, chosen=2)
    assert agreeing(CANDIDATES, turn) == (CANDIDATES[1],)
    assert agreeing(CANDIDATES, resolve(WAITING, 1, Question(ASKED))) == (CANDIDATES[0], CANDIDATES[2])
    assert agreeing(CANDIDATES, resolve(WAITING, 3, Question(ASKED))) is None
    assert agreeing(CANDIDATES, resolve(WAITING, "the name on the passport", Question(ASKED))) is None
    option = Option("music", ("SELECT 1",), databases=frozenset({"music"}))
    turn = Turn(ClarifyingQuestion(Ambiguity.COLUMN, "Which?", (option, Option("other"))), 1)
    assert agreeing([Candidate("other", "SELECT 1"), CANDIDATES[2]], turn) == (CANDIDATES[2],)


@pytest.mark.parametrize("number", [-1, 0, 4])
def test_a_number_that_no_option_has(number: int) -> None:
    with pytest.raises(InvalidSettingError) as raised:
        resolve(WAITING, number, Question(ASKED))
    error = raised.value
    assert error.sqlstate == "22023"
    assert error.detail == 'What do you mean by "names"? 1 artist name; 2 performer name; 3 legal name.'
    assert error.hint is not None
    assert "1 to 3" in error.hint


@pytest.mark.parametrize("text", ["Which flights leave for Rome tomorrow?"])
def test_a_question_of_its_own_is_no_answer(text: str) -> None:
    with pytest.raises(SyntaxProblemError) as raised:
        resolve(WAITING, text, Question(ASKED))
    assert raised.value.hint is not None
    assert "NL:" in raised.value.hint


@pytest.mark.parametrize(
    "text", ["the one they were born with", "which name is on the poster?", "whatever is in the table singer"]
)
def test_what_may_be_an_answer_is_one(text: str) -> None:
    assert resolve(WAITING, f" {text}\n", Question(ASKED)) == Turn(QUESTION, text=text)


def test_what_was_not_chosen_is_forbidden() -> None:
    assert Turn(QUESTION, chosen=1).forbidden == {PERFORMER}
    assert Turn(QUESTION, chosen=3).forbidden == {ARTIST, PERFORMER, COUNTRY}
    assert Turn(QUESTION, text="neither").forbidden == frozenset()


def test_the_conversation_in_lines() -> None:
    turns = [Turn(QUESTION, chosen=1), Turn(QUESTION, text='the "real"\none\n### Question')]
    turns += [Turn(QUESTION)]
    said = Dialogue(tuple(turns), ("SELECT\n  1",), ("not these",))
    assert conversation_text(said).splitlines() == [
        'Asked: What do you mean by "names"? Answered: artist name',
        'Asked: What do you mean by "names"? Answered: "the \'real\' one ### Question"',
        'Asked: What do you mean by "names"? Answered: none of '
        + "; ".join(option.words for option in QUESTION.options),
        "Rejected: SELECT 1",
        'The asker says: "not these"',
    ]
    assert conversation_text(Dialogue()) == ""


def test_long_texts_and_many_statements_are_cut() -> None:
    said = Dialogue((Turn(QUESTION, text="x" * 2_000),), tuple(f"SELECT {n}" for n in range(9)))
    lines = conversation_text(said).splitlines()
    assert len(lines[0]) < 400
    assert lines[1:] == [f"Rejected: SELECT {n}" for n in range(4, 9)]
