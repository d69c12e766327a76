"""The lines of the audit log: which request of whom, what came of it, and how much of its text is written down."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.values.messages import (
    AnswerRequest,
    AskReply,
    AskRequest,
    Chosen,
    CorrectRequest,
    EngineRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    RowKind,
)
from proxy.protocol import lexer
from proxy.protocol.commands import EngineReply, verb
from proxy.protocol.lexer import TokenKind
from proxy.settings import AuditRedaction

HIDDEN = "?"
"""What stands in place of a literal."""


class Outcome(StrEnum):
    """What became of a request."""

    ANSWERED = "answered"
    ASKED_BACK = "asked_back"
    ABSTAINED = "abstained"
    RAN = "ran"
    IN_SESSION = "in_session"
    """Handed to the asker's own session, where it runs as any statement of theirs."""
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Event(StrEnum):
    """What a line is about."""

    INTENT = "intent"
    """What is about to leave; an `OUTCOME` follows, once it has left."""
    REFUSAL = "refusal"
    """Nothing leaves but an error."""
    OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What was asked, by whom and from where, and what is about to leave. `session`: the id of SHOW CLIENTS.

    `statements`: those that are shown, or the one that runs. `source`: the database that they belong to. `ms`: until
    the engine's reply.
    """

    event: Event = Event.INTENT
    time: str = ""
    id: str = ""
    session: int = 0
    role: str = ""
    on_behalf: str = ""
    database: str = ""
    address: str = ""
    application_name: str = ""
    verb: str = "statement"
    reply: Outcome = Outcome.ANSWERED
    qid: str | None = None
    n: int | None = None
    question: str | None = None
    source: str | None = None
    statements: tuple[str, ...] = ()
    sqlstate: str | None = None
    ms: int = 0


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """What has left behind the intent of the same `id`: see `Delivered`; all null where the client had gone before."""

    event: Event
    time: str
    id: str
    rows: int | None
    bytes: int | None
    sqlstate: str | None
    ms: int


def asked(request: EngineRequest) -> AuditLine:
    """A line of the verb of `request`, and of what its asker said."""
    line = AuditLine(verb=verb(request))
    match request:
        case AskRequest():
            return replace(line, question=request.question)
        case AnswerRequest():
            return replace(line, qid=request.qid, n=request.n, question=request.text)
        case NoneRequest():
            return replace(line, qid=request.qid, question=request.why)
        case CorrectRequest():
            return replace(line, qid=request.qid, statements=(request.sql,))
        case MoreRequest():
            return replace(line, qid=request.qid)
    return replace(line, qid=request.qid, n=request.n)


def replied(line: AuditLine, reply: EngineReply) -> AuditLine:
    """`line` with what came of it."""
    match reply:
        case ErrorReply():
            outcome = _ERRORS.get(reply.sqlstate, Outcome.REFUSED)
            return replace(line, event=Event.REFUSAL, reply=outcome, sqlstate=reply.sqlstate)
        case Chosen():
            outcome = Outcome.IN_SESSION if reply.in_place else Outcome.RAN
            return replace(line, reply=outcome, source=reply.database, statements=(reply.sql,))
        case AskReply():
            kind = reply.rows[0].kind if reply.rows else RowKind.ABSTAIN
            sources = sorted({row.database for row in reply.rows if row.database is not None})
            shown = tuple(row.sql for row in reply.rows if row.sql is not None)
            return replace(
                line,
                reply=_KINDS.get(kind, Outcome.ANSWERED),
                qid=reply.qid or line.qid,
                source=", ".join(sources) or None,
                statements=shown or line.statements,
            )
    return line


_ERRORS = {"57014": Outcome.CANCELLED, "58000": Outcome.FAILED, "XX000": Outcome.FAILED}
_KINDS = {RowKind.OPTION: Outcome.ASKED_BACK, RowKind.ABSTAIN: Outcome.ABSTAINED}

_LITERALS = frozenset({*lexer.CONSTANTS, TokenKind.BIT_STRING, TokenKind.NUMBER, TokenKind.COMMENT})
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`""")


def redacted_statement(sql: str) -> str:
    """`sql` without its literals and comments, of which a `?` is left; what is not closed goes to its end."""
    return "".join(
        HIDDEN if token.kind in _LITERALS or not token.closed else sql[token.start : token.end]
        for token in lexer.tokens(sql)
    )


def redacted_text(text: str, statements: Iterable[str]) -> str:
    """`text` without what is quoted, words with digits, and words that stand in a literal of `statements`."""
    values = {
        word for sql in statements for literal in _literals(sql) for word in _WORD.findall(literal.casefold())
    }

    def shown(match: re.Match[str]) -> str:
        word = match.group()
        return HIDDEN if word.casefold() in values or any(map(str.isdigit, word)) else word

    return _WORD.sub(shown, _QUOTED.sub(HIDDEN, text))


def _literals(sql: str) -> Iterable[str]:
    for token in lexer.tokens(sql):
        if token.kind in _LITERALS:
            yield lexer.string_value(sql, token) or sql[token.start : token.end]


def written(
    text: str | None, statements: tuple[str, ...], redaction: AuditRedaction
) -> tuple[str | None, tuple[str, ...]]:
    """The question and the statements as they may be written down."""
    if redaction is AuditRedaction.NONE:
        return text, statements
    hidden = tuple(redacted_statement(sql) for sql in statements)
    if text is None or redaction is AuditRedaction.QUESTIONS:
        return None, hidden
    return redacted_text(text, statements), hidden
