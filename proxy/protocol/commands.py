"""The commands of a session to its driver, which carries them out in order and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from engine.values.messages import (
    AnswerRequest,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    CorrectRequest,
    EngineRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    RowSet,
    ShowRequest,
    TopicRequest,
)
from proxy.protocol.codec import Startup
from proxy.protocol.meter import Delivered
from proxy.protocol.replies import Allowance

EngineReply = AskReply | Chosen | RowSet | ErrorReply

VERBS: dict[type[EngineRequest], str] = {
    AskRequest: "ask",
    AnswerRequest: "answer",
    NoneRequest: "none",
    MoreRequest: "more",
    ChooseRequest: "choose",
    PlanRequest: "plan",
    CorrectRequest: "correct",
    ShowRequest: "show",
}
"""Request → what it is called."""


def verb(request: EngineRequest) -> str:
    """What it is called in the metrics and in the audit log; one about a topic is called as that is."""
    if isinstance(request, TopicRequest):
        return request.topic
    anyway = isinstance(request, ChooseRequest) and request.anyway
    return VERBS[type(request)] + "_anyway" * anyway


@dataclass(frozen=True, slots=True)
class ToClient:
    """Write to the client."""

    data: bytes


@dataclass(frozen=True, slots=True)
class ToUpstream:
    """Write to the upstream server."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Dial:
    """Connect to the upstream, then call `Session.dialled` or `Session.dial_failed`."""

    startup: Startup


@dataclass(frozen=True, slots=True)
class Consult:
    """Send the request to the engine, then call `Session.answered`, exactly once."""

    request: EngineRequest


@dataclass(frozen=True, slots=True)
class AbortConsult:
    """Drop the request under way; its answer, if it comes, is discarded."""


@dataclass(frozen=True, slots=True)
class KeyKnown:
    """The server has named the key by which this session can be cancelled."""

    key: bytes


@dataclass(frozen=True, slots=True)
class ToBorrower:
    """Write to the connection that has borrowed the session's server."""

    data: bytes


@dataclass(frozen=True, slots=True)
class CancelLent:
    """Cancel the borrower's statement, on a connection of its own; then call `Loan.cancel_sent`."""


@dataclass(frozen=True, slots=True)
class LoanEnded:
    """The borrower's connection is to be closed. `intact`: the session is as the client left it."""

    intact: bool


@dataclass(frozen=True, slots=True)
class StartClock:
    """The server is at a statement that has so much time left; then call `Session.overdue`, once."""

    allowance: Allowance


@dataclass(frozen=True, slots=True)
class StopClock:
    """The server is done with it: the time that it took is taken off."""

    allowance: Allowance


@dataclass(frozen=True, slots=True)
class CancelRunning:
    """Cancel the server's statement, on a connection of its own; then call `Session.cancel_sent`."""


@dataclass(frozen=True, slots=True)
class StatementSeen:
    """An NL statement of this kind was taken in: for the metrics."""

    kind: str


@dataclass(frozen=True, slots=True)
class StatementFailed:
    """An NL statement was answered with an error: for the metrics and the log."""

    error: ErrorReply


@dataclass(frozen=True, slots=True)
class Close:
    """Close both sides once everything written has gone out. `reason` is for the log."""

    reason: str


RareCommand = (
    Dial
    | Consult
    | AbortConsult
    | KeyKnown
    | ToBorrower
    | CancelLent
    | LoanEnded
    | StartClock
    | StopClock
    | CancelRunning
    | StatementSeen
    | StatementFailed
    | Delivered
    | Close
)
Command = ToClient | ToUpstream | RareCommand
