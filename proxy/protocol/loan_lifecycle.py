"""The lifecycle of a loan: when a session's server may be lent, and how the session goes on afterwards.

After the server has answered, and not where the loan's Sync would end a transaction of the client's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from engine.types import ErrorReply
from proxy.protocol import codec
from proxy.protocol.backend import Backend
from proxy.protocol.commands import Command, LoanEnded, ToUpstream
from proxy.protocol.loan import FAILED, Loan, LoanedServer, LoanStage, refusal

_FLUSH = codec.message(b"H", b"")

PIPELINED = ErrorReply(
    "0A000",
    "the session cannot be lent inside of a pipeline",
    "What the client sent before the question is committed by its next Sync, and not before.",
    "Send Sync before the question, or begin a transaction block.",
)
_OVERDUE = ErrorReply(
    "57014",
    "the server did not stop a statement of the question in time, and the session has ended",
    hint="Ask for less at once. What the server still does ends there by itself or by pg_terminate_backend.",
)
LOST = ErrorReply(
    "08006",
    "the session could not be given back as it was after a question, and has ended",
    hint="Connect again.",
)


class LoanOwner(Protocol):
    """The session whose server is lent."""

    backend: Backend
    relay_backend: Callable[[bytes], bool]

    def received(self, data: bytes) -> list[Command]:
        """Takes in the server's bytes for the client."""

    def loan_ended(self, *, intact: bool) -> list[Command]:
        """The server is the client's again; where not `intact`, the session ends."""

    def end(self, error: ErrorReply) -> list[Command]:
        """Ends the session."""


def _relays_nothing(_data: bytes) -> bool:
    """`LoanOwner.relay_backend` while the server is lent."""
    return False


class LoanLifecycle:
    """One loan of one session, from its request to its end; no method is called afterwards."""

    __slots__ = ("_backend", "_flushed", "_loan", "_owner", "_refused", "opened")

    def __init__(self, owner: LoanOwner, restore: bytes) -> None:
        """`restore`: as in `Loan`."""
        self._owner = owner
        self._backend = backend = owner.backend
        self._flushed = False
        self._loan = Loan(LoanedServer(backend.server_version, backend.key or bytes(8)), restore)
        self.opened = False
        """Whether the server's bytes belong to the loan."""
        self._refused = False

    def begin(self) -> list[Command]:
        """Lends the server now, or as soon as that can be."""
        return self._after_step(self._proceed())

    def receive_backend(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the server's."""
        if self.opened:
            return self._after_step(self._loan.receive_backend(data))
        return self._after_step([*self._owner.received(data), *self._proceed()])

    def receive_borrower(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the borrower's."""
        return self._after_step(self._loan.receive_borrower(data))

    def borrower_left(self) -> list[Command]:
        """The borrower has gone, or is to go."""
        return self._after_step(self._loan.end() if self.opened else self._refuse(FAILED))

    def cancel_sent(self) -> list[Command]:
        """The last `CancelLent` has been carried out."""
        return self._after_step(self._loan.cancelled())

    def overdue(self) -> list[Command]:
        """The server has not come back in time: the session ends."""
        return self._owner.end(_OVERDUE)

    def _proceed(self) -> list[Command]:
        """Opens the loan as soon as the server owes the client nothing; refuses it where it may not be."""
        replies = self._backend.replies
        if self.opened or self._refused:
            return []
        if replies.skipping:
            return self._refuse(FAILED)
        if replies.waiting_for_server or not self._backend.at_boundary:
            return []
        if replies.has_open_segment:
            flush: list[Command] = [] if self._flushed else [ToUpstream(_FLUSH)]
            self._flushed = True
            return flush
        if not replies.sync_is_harmless:
            return self._refuse(PIPELINED)
        self.opened = True
        return self._loan.open()

    def _refuse(self, error: ErrorReply) -> list[Command]:
        self._refused = True
        return [*refusal(error), LoanEnded(intact=True)]

    def _after_step(self, out: list[Command]) -> list[Command]:
        """Sets the relay of the server's chunks after a step, and gives the server back when the loan has ended."""
        owner, backend = self._owner, self._backend
        ended = self._refused or self._loan.stage is LoanStage.ENDED
        owner.relay_backend = _relays_nothing if self.opened and not ended else backend.relay
        if not ended:
            return out
        if not self._refused:
            backend.replies.synced(self._loan.status)
            out += owner.received(self._loan.leftover)
        return out + owner.loan_ended(intact=LoanEnded(intact=False) not in out)
