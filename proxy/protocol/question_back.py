"""A question back in words: the question once, its options by number, and the way to answer.

Notices and the error of `nl.on_abstain` share it. The first line of an option row's explanation is the question, the
same in every row; what follows it is the option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.types import AnswerRow, RowKind


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """`question`: one line; empty where the rows have none in common. `options`: (row, its words)."""

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
    parts = [row.explanation.partition("\n") for row in options]
    questions = {question for question, _, _ in parts}
    if len(questions) == 1 and all(words for _, _, words in parts):
        return QuestionBack(
            questions.pop(), tuple((row, words) for row, (_, _, words) in zip(options, parts, strict=True))
        )
    return QuestionBack("", tuple((row, row.explanation) for row in options))
