"""The notices beside an answer: its rows in words, and the progress of a question.

Owns their text. pgjdbc and DBeaver show the message field alone, so it holds the essential part.
"""

from __future__ import annotations

from engine.types import AnswerRow, AskReply, ErrorReply, RowKind
from proxy.protocol import codec

_NOTICE = b"NOTICE"
_SQLSTATE = "00000"


def answer(reply: AskReply, encoding: str) -> bytes:
    """The rows of an answer as NoticeResponses, one each."""
    return b"".join(_notice(_row(row), encoding) for row in reply.rows)


def progress(seconds: float, encoding: str) -> bytes:
    """A NoticeResponse with the `seconds` since the question was sent to the engine."""
    text = f"the question is being answered: {seconds:.0f} seconds so far"
    return _notice(ErrorReply(_SQLSTATE, text, hint="Cancelling ends it."), encoding)


def _row(row: AnswerRow) -> ErrorReply:
    if row.kind is RowKind.ABSTAIN or row.sql is None:
        return ErrorReply(_SQLSTATE, f"{row.n}. {row.explanation}", hint=row.next)
    sure = "" if row.confidence is None else f" {row.confidence:.3f}"
    return ErrorReply(_SQLSTATE, f"{row.n}. [{row.database}{sure}] {row.sql}", row.explanation, row.next)


def _notice(notice: ErrorReply, encoding: str) -> bytes:
    return codec.encode_notice(notice, encoding, severity=_NOTICE)
