"""The notices beside an answer: its rows in words, and the progress of a question.

Owns their text. pgjdbc and DBeaver show the message field alone, so it holds the essential part.
"""

from __future__ import annotations

from engine.types import AnswerRow, AskReply, ErrorReply, RowKind
from proxy.protocol import codec
from proxy.protocol.question_back import QuestionBack, question_back

_NOTICE = b"NOTICE"
_SQLSTATE = "00000"


def answer(reply: AskReply, encoding: str) -> bytes:
    """The rows of an answer as NoticeResponses, one each; a question back stands before its options."""
    back = question_back(reply.rows)
    told = [_row(row) for row in reply.rows if row.kind is not RowKind.OPTION]
    told += () if back is None else _question_back(back)
    return b"".join(_notice(each, encoding) for each in told)


def progress(seconds: float, encoding: str) -> bytes:
    """A NoticeResponse with the `seconds` since the question was sent to the engine."""
    text = f"the question is being answered: {seconds:.0f} seconds so far"
    return _notice(ErrorReply(_SQLSTATE, text, hint="Cancelling ends it."), encoding)


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
