"""What comes to a session beside its two streams: time, a cancel request, the engine that borrows its server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from engine.values.errors import CancelledError
from engine.values.messages import ErrorReply
from proxy.protocol import notices
from proxy.protocol.backend import Backend
from proxy.protocol.commands import (
    AbortConsult,
    CancelRunning,
    Command,
    EngineReply,
    StartClock,
    StopClock,
    ToClient,
)
from proxy.protocol.loan import LOST, Loan
from proxy.protocol.replies import Allowance
from proxy.protocol.session_phases import Phase

SHUTTING_DOWN = ErrorReply("57P01", "terminating connection because the gateway shuts down")


class Interruptible(ABC):
    """The part of a session that they reach; `Session` has the streams."""

    __slots__ = ("_cancelling", "_late_reply", "backend", "loan", "phase", "relay_backend", "running")

    def __init__(self) -> None:
        self._cancelling = False
        self._late_reply: EngineReply | None = None
        self.phase = Phase.STARTUP
        self.backend = Backend()
        self.relay_backend: Callable[[bytes], bool] = self.backend.relay
        """Takes in a server's chunk that passes as it is; false where `receive_backend` has to look."""
        self.running: Allowance | None = None
        """Of the statement that the server is at, where that is an answer's, run in place."""
        self.loan: Loan | None = None
        """The loan of the server to the engine, from its request to its end; None without one."""

    # -- as `LoanOwner`

    @abstractmethod
    def received(self, data: bytes) -> list[Command]:
        """Takes in the server's bytes for the client, not for a borrower."""

    @abstractmethod
    def end(self, error: ErrorReply) -> list[Command]:
        """Ends the session with an error, wherever it stands."""

    def shut_down(self) -> list[Command]:
        """The gateway ends the session."""
        return self.end(SHUTTING_DOWN)

    # -- of the streams

    @property
    @abstractmethod
    def _unnamed(self) -> bytes:
        """The Parse message that made the unnamed statement, where it is ours."""

    @abstractmethod
    def answered(self, reply: EngineReply) -> list[Command]:
        """The engine's reply to the last `Consult`; it waits until a loan that is open has ended."""

    @abstractmethod
    def _go_on(self, out: list[Command]) -> None:
        """Ends a hold of the client's messages where nothing needs it any more."""

    @abstractmethod
    def _settle(self, out: list[Command]) -> None:
        """Looks where the streams stand, after whatever was done."""

    # -- time

    def _set_clock(self, out: list[Command]) -> None:
        allowance = self.backend.replies.allowance
        if allowance is self.running:
            return
        if self.running is not None:
            out.append(StopClock(self.running))
        if allowance is not None:
            out.append(StartClock(allowance))
        self.running = allowance

    def overdue(self) -> list[Command]:
        """The time of the `running` statement is over."""
        if self.running is None or self._cancelling:
            return []
        self._cancelling = self.running.overdue = True
        return [CancelRunning()]

    def cancel_sent(self) -> list[Command]:
        """The last `CancelRunning` has been carried out: it can meet no later statement any more."""
        self._cancelling = False
        out: list[Command] = []
        self._go_on(out)
        self._settle(out)
        return out

    def progress(self, seconds: float, before: int | None = None) -> list[Command]:
        """The engine takes its time: the client is told, where a notice may stand (docs, 54.2.6).

        `before`: questions whose turn comes first; None where this one is being answered.
        """
        if self.phase is not Phase.CONSULTING or not self.backend.at_boundary:
            return []
        return [ToClient(notices.progress(seconds, before, self.backend.encoding))]

    def awaited(self) -> list[Command]:
        """The client sends no more: where it asked us it is told that it is heard, which finds one that has gone."""
        asked = self.phase is Phase.CONSULTING or self.running is not None
        if not asked or not self.backend.at_boundary:
            return []
        return [ToClient(notices.awaited(self.backend.encoding))]

    # -- a cancel request

    def cancelled(self) -> tuple[bool, list[Command]]:
        """The client wants its running statement cancelled.

        Returns whether the server has to be told, and what else is to be done. Where only the engine is
        awaited the server is left alone, lest the request meet a later statement.
        """
        replies = self.backend.replies
        error = CancelledError("canceling statement due to user request").reply()
        if self.loan is not None and self.loan.opened:
            return False, [AbortConsult(), *self.answered(error)]
        if self.phase is not Phase.CONSULTING or replies.waiting_for_server:
            return True, []
        return replies.has_open_segment, [AbortConsult(), *self.answered(error)]

    # -- lending the server to the engine

    @property
    def can_lend(self) -> bool:
        """Whether an engine is consulted that has no loan yet and no answer."""
        return self.phase is Phase.CONSULTING and self.loan is None and self._late_reply is None

    def lend(self) -> list[Command]:
        """The engine wants the session's server for one transaction; only while `can_lend`."""
        self.loan = Loan(self, self._unnamed)
        return self.loan.begin()

    def loan_ended(self, *, intact: bool) -> list[Command]:
        """The server is the client's again: handles a reply that came meanwhile; not `intact`: ends the session."""
        self.loan = None
        if not intact:
            return self.end(LOST)
        late, self._late_reply = self._late_reply, None
        return [] if late is None else self.answered(late)
