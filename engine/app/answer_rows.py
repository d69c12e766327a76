"""The outcome of the pipeline as the rows of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.ask.policy import abstention
from engine.ask.question_back import agrees
from engine.ask.wording import option_text
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.dialogue import ClarifyingQuestion
from engine.values.messages import AnswerRow, RowKind
from engine.values.refusal import Refusal
from engine.values.state import State


def answer_rows(state: State, shown: Sequence[Candidate], qid: str) -> tuple[AnswerRow, ...]:
    """A row for each of `shown`, from 1; one row of kind `abstain` without any.

    Where a question back is pending, its options instead. How a follow-up, or a foreign question, was read is said
    once: of a model's readings by the likeliest, of which it is true.
    """
    rows: tuple[AnswerRow, ...]
    if state.dialogue.pending is not None:
        rows = _options(state, state.dialogue.pending, qid)
    elif not shown:
        rows = (refusal_row(abstention(state), qid),)
    else:
        rows = tuple(
            candidate_row(number, candidate, qid, verified=candidate is state.verified)
            for number, candidate in enumerate(shown, 1)
        )
    said = state.dialogue.read_as or state.translation
    first = 0 if state.dialogue.pending is not None or not shown else _likeliest(shown)
    return (*rows[:first], _read_as(rows[first], said), *rows[first + 1 :]) if said else rows


def _likeliest(shown: Sequence[Candidate]) -> int:
    """The place of the reading that a model gave first; of what was searched for, the first one."""
    places = [(each.is_twin, each.meaning.place or 0) for each in shown]
    return places.index(min(places))


def candidate_row(number: int, candidate: Candidate, qid: str, *, verified: bool) -> AnswerRow:
    """Row `number` of answer `qid`."""
    return AnswerRow(
        n=number,
        kind=RowKind.VERIFIED if verified else RowKind.CANDIDATE,
        database=candidate.database,
        # A person's word has no confidence of ours.
        confidence=None if verified else round(candidate.confidence, 3),
        sql=candidate.sql,
        explanation=candidate.explanation,
        next=f"NL CHOOSE {number} OF '{qid}'",
        qid=qid,
    )


def _options(state: State, question: ClarifyingQuestion, qid: str) -> tuple[AnswerRow, ...]:
    """A row for each option, and one for the asker's own words."""
    rows = []
    for number, option in enumerate(question.options, 1):
        members = [each for each in state.candidates if agrees(option, each)]
        databases = {member.database for member in members}
        rows.append(
            AnswerRow(
                n=number,
                kind=RowKind.OPTION,
                database=databases.pop() if len(databases) == 1 else None,
                confidence=round(sum(member.confidence for member in members), 3) if members else None,
                sql=None,
                explanation=f"{question.words} {option_text(option)}",
                next=f"NL ANSWER {number} OF '{qid}'",
                qid=qid,
            )
        )
    words = wording.OWN_WORDS.format(question.words)
    own = f"NL ANSWER $$in your own words$$ OF '{qid}'"
    return (*rows, AnswerRow(len(rows) + 1, RowKind.OPTION, None, None, words, None, own, qid))


def out_of_time(rows: Sequence[AnswerRow]) -> str:
    """What is told of an answer whose question ended before all was looked for."""
    found = sum(row.sql is not None for row in rows)
    return wording.OUT_OF_TIME.format(found, "" if found == 1 else "s")


def refusal_row(refusal: Refusal, qid: str) -> AnswerRow:
    """The row of an answer without a statement: why, and what would help."""
    return AnswerRow(1, RowKind.ABSTAIN, None, None, refusal.explanation, None, refusal.next, qid)


def _read_as(row: AnswerRow, said: str) -> AnswerRow:
    return replace(row, explanation=wording.READ_AS.format(said, row.explanation).rstrip())
