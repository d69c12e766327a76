"""A question back in words: the question once, its options by number, and the way to answer.

Notices and the error of `nl.on_abstain` share it. The explanation of every option row begins with the question; the
question is what all of them begin with, up to the end of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.types import AnswerRow, RowKind

_SENTENCE_END = re.compile(r"[?.:!]\s+|\n")


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """`question`: empty where the rows do not begin alike. `options`: (row, its words)."""

    question: str
    options: tuple[tuple[AnswerRow, str], ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The question, where there is one, and each option with its number."""
        numbered = tuple(f"{row.n}. {words}" for row, words in self.options)
        return (self.question, *numbered) if self.question else numbered

    @property
    def way_to_answer(self) -> str:
        """The statements that answer it, a sentence."""
        qid = self.options[0][0].qid
        return f"Answer with NL ANSWER n OF '{qid}', or in your own words with NL ANSWER $$text$$ OF '{qid}'."


def question_back(rows: Sequence[AnswerRow]) -> QuestionBack | None:
    """The question that an answer asks back; None where it asks none."""
    options = [row for row in rows if row.kind is RowKind.OPTION]
    if not options:
        return None
    first = options[0].explanation
    begins = [first[: end.end()] for end in _SENTENCE_END.finditer(first)]
    shared = [begin for begin in begins if all(row.explanation.startswith(begin) for row in options)]
    question = shared[-1] if shared else ""
    return QuestionBack(
        question.strip(), tuple((row, row.explanation.removeprefix(question).strip()) for row in options)
    )
