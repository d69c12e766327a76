"""A line of the audit log: which request of whom, what came of it, and how much of its text is written down."""

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
    TopicRequest,
)
from proxy.protocol import lexer
from proxy.protocol.commands import VERBS, EngineReply
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


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line. `session`: the id of SHOW CLIENTS. `rows`: of the result, None where they are not the gateway's.

    `statements`: those that were shown, or the one that ran. `source`: the database that they belong to.
    """

    time: str = ""
    session: int = 0
    role: str = ""
    database: str = ""
    verb: str = "statement"
    outcome: Outcome = Outcome.ANSWERED
    qid: str | None = None
    n: int | None = None
    question: str | None = None
    source: str | None = None
    statements: tuple[str, ...] = ()
    sqlstate: str | None = None
    rows: int | None = None
    ms: int = 0


def asked(request: EngineRequest) -> AuditLine:
    """A line of the verb of `request`, and of what its asker said."""
    verb = request.topic if isinstance(request, TopicRequest) else VERBS[type(request)]
    match request:
        case AskRequest():
            return AuditLine(verb=verb, question=request.question)
        case AnswerRequest():
            return AuditLine(verb=verb, qid=request.qid, n=request.n, question=request.text)
        case NoneRequest():
            return AuditLine(verb=verb, qid=request.qid, question=request.why)
        case CorrectRequest():
            return AuditLine(verb=verb, qid=request.qid, statements=(request.sql,))
        case MoreRequest():
            return AuditLine(verb=verb, qid=request.qid)
    return AuditLine(verb=verb, qid=request.qid, n=request.n)


def replied(line: AuditLine, reply: EngineReply) -> AuditLine:
    """`line` with what came of it."""
    match reply:
        case ErrorReply():
            outcome = _ERRORS.get(reply.sqlstate, Outcome.REFUSED)
            return replace(line, outcome=outcome, sqlstate=reply.sqlstate)
        case Chosen():
            outcome, rows = (Outcome.IN_SESSION, None) if reply.in_place else (Outcome.RAN, len(reply.rows))
            return replace(line, outcome=outcome, source=reply.database, statements=(reply.sql,), rows=rows)
        case AskReply():
            kind = reply.rows[0].kind if reply.rows else RowKind.ABSTAIN
            sources = sorted({row.database for row in reply.rows if row.database is not None})
            shown = tuple(row.sql for row in reply.rows if row.sql is not None)
            return replace(
                line,
                outcome=_KINDS.get(kind, Outcome.ANSWERED),
                qid=reply.qid or line.qid,
                source=", ".join(sources) or None,
                statements=shown or line.statements,
                rows=len(reply.rows),
            )
    return replace(line, rows=len(reply.rows))


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
