"""One request to the engine on behalf of a session: its progress timer, and the queue of the server's borrowers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from engine.types import EngineRequest, ErrorReply, SessionLoan
from proxy.metrics import GatewayMetrics
from proxy.net.audit_log import AuditTrail
from proxy.protocol.commands import Command, EngineReply
from proxy.protocol.session import Session
from proxy.settings import GatewaySettings


class Borrower(Protocol):
    """A connection of the engine's that wants the session's server."""

    def write(self, data: bytes) -> None:
        """Sends the server's bytes."""

    def close(self) -> None:
        """Ends it, once everything written has gone out."""

    def refuse(self, error: ErrorReply) -> None:
        """Sends `error` and ends it."""


class ConsultationContext(Protocol):
    """The worker as a consultation sees it."""

    @property
    def settings(self) -> GatewaySettings:
        """Those in force."""

    @property
    def metrics(self) -> GatewayMetrics:
        """The worker's counts."""

    async def consult(self, request: EngineRequest) -> EngineReply:
        """The engine's reply; every failure comes as an ErrorReply."""

    def offer(self, consultation: Consultation) -> SessionLoan | None:
        """Where the engine can borrow the session's server from now on; None where it cannot."""

    def withdraw(self, loan: SessionLoan) -> None:
        """Ends an offer."""


_QUESTION_OVER = ErrorReply("57014", "the question is over", hint="Nothing is lent after the answer.")


class Consultation:
    """From the request to the answer. `perform`: carries out the session's commands."""

    def __init__(
        self,
        context: ConsultationContext,
        session: Session,
        perform: Callable[[list[Command]], None],
        pause_server: Callable[..., None],
        trail: AuditTrail | None = None,
    ) -> None:
        """`pause_server` stops reading from the server while `full`. `trail`: where the request is logged."""
        self._context = context
        self._session = session
        self._perform = perform
        self._metrics = context.metrics
        self._pause_server = pause_server
        self._trail = trail
        self._progress_seconds = context.settings.nl_progress
        self._grace = context.settings.loan_grace
        self._waiting: deque[Borrower] = deque()
        self._active: Borrower | None = None
        self._over = False
        self._progress_timer: asyncio.TimerHandle | None = None
        self._grace_timer: asyncio.TimerHandle | None = None

    async def reply(self, request: EngineRequest) -> EngineReply:
        """Sends `request` to the engine and returns its reply."""
        loan = self._context.offer(self)
        self._schedule_progress(self._progress_seconds)
        try:
            asker = replace(request.asker, session=loan)
            return await self._logged(replace(request, asker=asker))
        finally:
            self.close()
            if loan is not None:
                self._context.withdraw(loan)

    async def _logged(self, request: EngineRequest) -> EngineReply:
        """The reply to `request`, which leaves its line in the audit log, however it ends."""
        trail = self._trail
        if trail is None:
            return await self._context.consult(request)
        trail.begun(request)
        try:
            reply = await self._context.consult(request)
        except asyncio.CancelledError:
            trail.dropped()
            raise
        trail.answered(reply)
        return reply

    def close(self) -> None:
        """Stops the progress notices and refuses the borrowers that wait."""
        self._over = True
        if self._progress_timer is not None:
            self._progress_timer.cancel()
        while self._waiting:
            self._waiting.popleft().refuse(_QUESTION_OVER)

    # -- progress

    def _schedule_progress(self, seconds: float) -> None:
        """Notifies the client after `seconds`, and again each time they have doubled, that the engine still works."""
        if seconds > 0:
            self._progress_timer = asyncio.get_running_loop().call_later(
                seconds, self._send_progress, seconds
            )

    def _send_progress(self, waited: float) -> None:
        self._perform(self._session.progress(waited))
        self._progress_timer = asyncio.get_running_loop().call_later(waited, self._send_progress, 2 * waited)

    # -- loans

    @property
    def idle(self) -> bool:
        """Whether it is over and no borrower has the server."""
        return self._over and self._active is None

    def borrow(self, borrower: Borrower) -> None:
        """Queues a connection of the engine's for the server."""
        if self._over:
            borrower.refuse(_QUESTION_OVER)
            return
        self._waiting.append(borrower)
        self._next()

    def _next(self) -> None:
        while self._active is None and self._waiting and self._session.can_lend:
            self._active = self._waiting.popleft()
            self._metrics.loans.inc()
            self._perform(self._session.lend())

    def borrower_data(self, borrower: Borrower, data: bytes) -> None:
        """Bytes from a borrower."""
        loan = self._session.loan
        if borrower is self._active and loan is not None:
            self._perform(loan.receive_borrower(data))

    def borrower_lost(self, borrower: Borrower) -> None:
        """A borrower has closed its connection."""
        if borrower in self._waiting:
            self._waiting.remove(borrower)
        elif borrower is self._active and self._session.loan is not None:
            self._perform(self._session.loan.borrower_left())

    def full(self, *, full: bool) -> None:
        """The borrower reads slower than the server writes, or it has caught up."""
        self._pause_server(full=full)

    def to_borrower(self, data: bytes) -> None:
        """Carries out `ToBorrower`."""
        if self._active is not None:
            self._active.write(data)

    def start_grace(self) -> None:
        """The loan is ending: the server gets `loan_grace` seconds to stop."""
        self._metrics.loans_cancelled.inc()
        self._grace_timer = asyncio.get_running_loop().call_later(self._grace, self._grace_ended)

    def _grace_ended(self) -> None:
        self._grace_timer = None
        self._metrics.loans_overdue.inc()
        if self._session.loan is not None:
            self._perform(self._session.loan.overdue())

    def ended(self) -> None:
        """Carries out `LoanEnded`."""
        if self._grace_timer is not None:
            self._grace_timer.cancel()
            self._grace_timer = None
        borrower, self._active = self._active, None
        if borrower is not None:
            borrower.close()
        # Not before the session has gone on from here.
        asyncio.get_running_loop().call_soon(self._next)

    def abandon(self) -> None:
        """The session has ended."""
        self.close()
        self.ended()
