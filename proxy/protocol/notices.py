"""The notices beside an answer: its rows in words, a question back, and the progress of a question; and its errors.

pgjdbc and DBeaver show the message field alone, so it holds the essential part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.values.errors import AbstainedError, NeedsAnswerError
from engine.values.messages import AnswerRow, AskReply, Chosen, ErrorReply, RowKind
from proxy.protocol import codec

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
    # One row shares all of itself with itself: its first sentence is the question.
    question = "" if not shared else shared[-1] if len(options) > 1 else shared[0]
    return QuestionBack(
        question.strip(), tuple((row, row.explanation.removeprefix(question).strip()) for row in options)
    )


_NOTICE = b"NOTICE"
_SQLSTATE = "00000"
_WARNING = "01000"


def answer(reply: AskReply, encoding: str) -> bytes:
    """The rows of an answer as NoticeResponses, one each; a question back stands before its options."""
    back = question_back(reply.rows)
    told = [_row(row) for row in reply.rows if row.kind is not RowKind.OPTION]
    told += () if back is None else _question_back(back)
    return b"".join(_notice(each, encoding) for each in told)


def beside(reply: AskReply, encoding: str) -> bytes:
    """What is told beside an answer, however the answer itself comes."""
    return b"".join(_notice(ErrorReply(_SQLSTATE, text), encoding) for text in reply.notices)


def outside(database: str, encoding: str) -> bytes:
    """Tells inside of a transaction that rows are not read in it."""
    text = f'these rows of database "{database}" were read there, outside of this transaction'
    return _notice(ErrorReply(_SQLSTATE, text), encoding)


def truncation(chosen: Chosen, encoding: str) -> bytes:
    """Warns of what a result lacks."""
    cut: list[str] = []
    if chosen.truncated:
        cut.append(f"the result was cut after {len(chosen.rows)} rows")
    if chosen.shortened:
        cut.append("values of the result were cut")
    hint = f'Connect to database "{chosen.database}" and run the statement there for the whole of it.'
    warnings = (ErrorReply(_WARNING, text, hint=hint) for text in cut)
    return b"".join(codec.encode_notice(warning, encoding) for warning in warnings)


def costs(text: str, encoding: str) -> bytes:
    """Warns of what a statement costs; nothing of an empty text."""
    return codec.encode_notice(ErrorReply(_WARNING, text), encoding) if text else b""


def progress(seconds: float, before: int | None, encoding: str) -> bytes:
    """A NoticeResponse with the `seconds` since the question was sent to the engine, and its place while it waits."""
    state = "is being answered:" if before is None else f"waits for its turn: {before} before yours,"
    text = f"the question {state} {seconds:.0f} seconds so far"
    return _notice(ErrorReply(_SQLSTATE, text), encoding)


def awaited(encoding: str) -> bytes:
    """Tells a client that has shut its sending side that its statement goes on."""
    return _notice(ErrorReply(_SQLSTATE, "what was sent is still being answered"), encoding)


def _question_back(back: QuestionBack) -> list[ErrorReply]:
    question = [ErrorReply(_SQLSTATE, back.question)] if back.question else []
    options = [ErrorReply(_SQLSTATE, f"{row.n}. {words}", hint=row.next) for row, words in back.options]
    return [*question, *options, ErrorReply(_SQLSTATE, back.way_to_answer)]


def _row(row: AnswerRow) -> ErrorReply:
    if row.kind is RowKind.ABSTAIN or row.sql is None:
        return ErrorReply(_SQLSTATE, f"{row.n}. {row.explanation}", hint=row.next)
    sure = "" if row.confidence is None else f" {row.confidence:.3f}"
    return ErrorReply(_SQLSTATE, f"{row.n}. [{row.database}{sure}] {row.sql}", row.explanation, row.next)


def _notice(notice: ErrorReply, encoding: str) -> bytes:
    return codec.encode_notice(notice, encoding, severity=_NOTICE)


def refuse_unanswered(rows: Sequence[AnswerRow], *, in_transaction: bool) -> None:
    """Raises NL001 where an answer is a question back, NL002 where it is an abstention."""
    back = question_back(rows)
    if back is not None:
        failed = "This transaction has failed: ROLLBACK, or ROLLBACK TO a savepoint. "
        hint = failed * in_transaction + back.way_to_answer
        raise NeedsAnswerError("the question waits for an answer", detail="\n".join(back.lines), hint=hint)
    abstained = next((row for row in rows[:1] if row.kind is RowKind.ABSTAIN), None)
    if abstained is not None:
        raise AbstainedError(
            "the question was not answered", detail=abstained.explanation, hint=abstained.next
        )
