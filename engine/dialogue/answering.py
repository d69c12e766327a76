"""An answer to a question back: whether it is one, which candidates agree with it, and what it says to a model."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.candidate import Candidate
from engine.dialogue.types import ClarifyingQuestion, Dialogue, Option, Turn
from engine.errors import InvalidSettingError, SyntaxProblemError, UnsupportedError
from engine.text.tokens import question_words
from schema_catalog.types import ColumnKey

SHOWN_STATEMENTS = 5
"""Rejected statements that a model is shown, the newest."""

_LONGEST = 300
"""Characters of a text of the asker's that a model is shown."""

_INTERROGATIVES = frozenset({"how", "what", "when", "where", "which", "who", "whom", "whose", "why"})
_QUESTION_WORDS = 4
"""Words of a question, at least."""


def resolve(dialogue: Dialogue, answer: int | str, question: str = "") -> Turn:
    """The pending question with its answer: the number of an option, from 1, or a text in the asker's own words.

    `question`: the asker's first one. Raises `UnsupportedError` (0A000) where no question waits, `InvalidSettingError`
    (22023) for a number that no option has and for an empty text, `SyntaxProblemError` (42601) for a text that is a
    question of its own.
    """
    pending = dialogue.pending
    if pending is None:
        raise UnsupportedError(
            "the question waits for no answer",
            hint="NL SHOW shows its rows; NL CHOOSE n runs one, NL NONE rejects them all.",
        )
    if isinstance(answer, int):
        if not 1 <= answer <= len(pending.options):
            raise InvalidSettingError(
                f"option {answer} does not exist", detail=_listed(pending), hint=_answers(pending)
            )
        return Turn(pending, chosen=answer)
    text = " ".join(answer.split())
    if not text:
        raise InvalidSettingError("the answer is empty", detail=_listed(pending), hint=_answers(pending))
    if asks_anew(text, pending, question):
        raise SyntaxProblemError(
            "the answer is a question of its own",
            detail=f"It has no word in common with the question that it answers: {pending.words}",
            hint="Ask it with NL: before it, or answer with the number of an option.",
        )
    return Turn(pending, text=text)


def asks_anew(text: str, pending: ClarifyingQuestion, question: str) -> bool:
    """Whether `text` has the form of a question and no word of the pending one, of its options or of `question`.

    Conservative: a short text, or one that shares a single content word, is an answer.
    """
    words = text.lower().split()
    if not text.endswith("?") or len(words) < _QUESTION_WORDS or words[0] not in _INTERROGATIVES:
        return False
    context = " ".join([question, pending.words, *(option.words for option in pending.options)])
    return not set(question_words(text)) & set(question_words(context))


def _listed(pending: ClarifyingQuestion) -> str:
    options = "; ".join(f"{number} {option.words}" for number, option in enumerate(pending.options, 1))
    return f"{pending.words} {options}."


def _answers(pending: ClarifyingQuestion) -> str:
    return f"Answer with a number from 1 to {len(pending.options)}, or with a text of your own between $$ and $$."


def agrees(option: Option, candidate: Candidate) -> bool:
    """Whether `candidate` is one of those that the option stands for."""
    of = not option.databases or candidate.database in option.databases
    return of and candidate.sql in option.statements


def agreeing(candidates: Sequence[Candidate], turn: Turn) -> tuple[Candidate, ...] | None:
    """The candidates that agree with an answer, in their order.

    None where only other statements can: for a text, and for an option that no statement was written for.
    """
    option = chosen(turn)
    if option is None or not option.statements:
        return None
    return tuple(each for each in candidates if agrees(option, each))


def chosen(turn: Turn) -> Option | None:
    """The option that was chosen; None for a text."""
    return None if turn.chosen is None else turn.question.options[turn.chosen - 1]


def forbidden(turn: Turn) -> frozenset[ColumnKey]:
    """The elements of the options that were not chosen, without those of the chosen one; none for a text."""
    option = chosen(turn)
    if option is None:
        return frozenset()
    others = (each.elements for each in turn.question.options if each is not option)
    return frozenset[ColumnKey]().union(*others) - option.elements


def conversation_text(dialogue: Dialogue) -> str:
    """What was asked and answered, and what was rejected and why, as lines for a prompt; empty where nothing was.

    A text of the asker's stands on one line between quotes: it is data.
    """
    lines = [f"Asked: {turn.question.words} Answered: {_answer(turn)}" for turn in dialogue.turns]
    lines += [f"Rejected: {_line(sql)}" for sql in dialogue.rejected[-SHOWN_STATEMENTS:]]
    lines += [f"The asker says: {_quoted(remark)}" for remark in dialogue.remarks]
    return "\n".join(lines)


def _answer(turn: Turn) -> str:
    option = chosen(turn)
    if option is not None:
        return option.words
    return (
        "none of " + "; ".join(each.words for each in turn.question.options)
        if turn.text is None
        else _quoted(turn.text)
    )


def _quoted(text: str) -> str:
    return '"' + _line(text).replace('"', "'") + '"'


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
