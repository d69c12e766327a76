"""When a session's server may be lent: not before it has answered the client, and not where a loan would end something.

Owns the way from the wish for a loan to its beginning. The loan itself is `loan`'s.
"""

from __future__ import annotations

from engine.types import ErrorReply
from proxy.protocol import codec
from proxy.protocol.backend import Backend
from proxy.protocol.commands import Command, LoanEnded, ToUpstream
from proxy.protocol.loan import FAILED, Loan, Server, Stage, refusal

_FLUSH = codec.message(b"H", b"")

PIPELINED = ErrorReply(
    "0A000",
    "the session cannot be lent inside of a pipeline",
    "What the client sent before the question is committed by its next Sync, and not before.",
    "Send Sync before the question, or begin a transaction block.",
)


class Lending:
    """One loan of one session, from the wish for it to its end."""

    __slots__ = ("_backend", "_flushed", "loan", "opened", "refused")

    def __init__(self, backend: Backend, restore: bytes) -> None:
        """`restore`: as in `Loan`."""
        self._backend = backend
        self._flushed = False
        self.loan = Loan(Server(backend.server_version, backend.key or bytes(8)), restore)
        self.opened = False
        """Whether what the server says is the loan's."""
        self.refused = False

    @property
    def ended(self) -> bool:
        """Whether the server is the client's again."""
        return self.refused or self.loan.stage is Stage.ENDED

    def proceed(self) -> list[Command]:
        """Opens the loan as soon as the server owes the client nothing; refuses it where it may not be."""
        replies = self._backend.replies
        if self.opened or self.refused:
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
        return self.loan.open()

    def leave(self) -> list[Command]:
        """The borrower has gone, or is to go."""
        return self.loan.end() if self.opened else self._refuse(FAILED)

    def _refuse(self, error: ErrorReply) -> list[Command]:
        self.refused = True
        return [*refusal(error), LoanEnded(intact=True)]
