"""One request to the engine on behalf of a session: its progress timer, and the loans of the session's server.

The engine borrows it at a listening socket of the worker's. A token is valid for one question; its holder may act as
the asker, so it goes to the engine alone: over a Unix socket in the runtime directory (mode 700), or over the address
of `lend_addr`.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import cast

import structlog

from engine.values.messages import EngineRequest, ErrorReply
from engine.values.queue_place import teller
from engine.values.session_loan import LOAN_PARAMETER, SessionLoan
from proxy.metrics import GatewayMetrics
from proxy.net.tls import LendingTLS
from proxy.net.upstream.dialer import without_delay
from proxy.net.worker.worker_ipc import LOANS
from proxy.protocol import codec
from proxy.protocol.codec import Startup
from proxy.protocol.commands import CancelLent, Command, EngineReply, LoanEnded, ToBorrower
from proxy.protocol.framing import ProtocolViolationError, startup_length
from proxy.protocol.session import Session
from proxy.settings import GatewaySettings

_STARTUP_SECONDS = 5.0

_UNKNOWN_LOAN = ErrorReply(
    "28000", "there is no such loan", hint="Only the engine comes here, while it is asked."
)

_QUESTION_OVER = ErrorReply("57014", "the question is over", hint="Nothing is lent after the answer.")

log = structlog.stdlib.get_logger("proxy")


class LoanListener:
    """The loans that one worker offers. Opened once, closed with the worker."""

    def __init__(self, directory: str, address: str, certified: LendingTLS | None) -> None:
        """`directory`: of the Unix socket. `address`: the IP address to listen on instead; both empty: no loans.

        `certified`: the TLS of the address; None: it has none.
        """
        self._certified = certified
        self._directory = directory
        self._address = address
        self._offers: dict[str, Consultation] = {}
        self._server: asyncio.Server | None = None
        self._endpoint: tuple[str, int] | None = None

    async def open(self) -> None:
        """Listens. Raises `OSError`: the address cannot be bound, or the directory cannot be used."""
        loop = asyncio.get_running_loop()
        if self._address:
            certified = self._certified
            self._server = await loop.create_server(
                lambda: LoanConnection(self),
                self._address,
                0,
                ssl=certified.context if certified else None,
                ssl_handshake_timeout=_STARTUP_SECONDS if certified else None,
            )
            self._endpoint = (self._address, self._server.sockets[0].getsockname()[1])
        elif self._directory:
            path = self._path
            path.unlink(missing_ok=True)
            self._server = await loop.create_unix_server(lambda: LoanConnection(self), str(path))
            path.chmod(0o600)
            self._endpoint = (self._directory, os.getpid())

    @property
    def _path(self) -> Path:
        return Path(self._directory) / LOANS.format(os.getpid())

    async def close(self) -> None:
        """Stops listening."""
        if self._server is not None:
            self._server.close()
            if not self._address:
                self._path.unlink(missing_ok=True)

    def offer(self, consultation: Consultation) -> SessionLoan | None:
        """Where the server of the consultation's session can be borrowed from now on; None where nothing is lent."""
        if self._endpoint is None:
            return None
        token = secrets.token_urlsafe(24)
        self._offers[token] = consultation
        certificate = self._certified.certificate if self._address and self._certified else ""
        return SessionLoan(*self._endpoint, token, certificate)

    def withdraw(self, loan: SessionLoan) -> None:
        """Ends an offer."""
        self._offers.pop(loan.token, None)

    def consultation_of(self, token: str) -> Consultation | None:
        """The consultation that `token` belongs to."""
        return self._offers.get(token)


class LoanConnection(asyncio.Protocol):
    """A connection of the engine's: a borrower once it has shown its token."""

    def __init__(self, loans: LoanListener) -> None:
        self._loans = loans
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self._consultation: Consultation | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The engine has connected."""
        self._transport = cast("asyncio.Transport", transport)
        without_delay(transport)
        self._timer = asyncio.get_running_loop().call_later(_STARTUP_SECONDS, self.refuse, _UNKNOWN_LOAN)

    def data_received(self, data: bytes) -> None:
        """Bytes from the engine."""
        if self._consultation is not None:
            self._consultation.borrower_data(self, data)
            return
        self._buffer += data
        try:
            self._take_startup()
        except ProtocolViolationError as violation:
            self.refuse(ErrorReply("08P01", str(violation)))

    def _take_startup(self) -> None:
        length = startup_length(self._buffer)
        if length is None or length > len(self._buffer):
            return
        packet, rest = self._buffer[:length], self._buffer[length:]
        first = codec.decode_first(packet)
        if not isinstance(first, Startup):
            # A cancel request: the loan's end cancels by itself.
            self.close()
            return
        consultation = self._loans.consultation_of(first.parameter(LOAN_PARAMETER) or "")
        if consultation is None:
            log.warning("loan_refused")
            self.refuse(_UNKNOWN_LOAN)
            return
        self._stop_timer()
        self._buffer = b""
        self._consultation = consultation
        consultation.borrow(self)
        if rest:
            consultation.borrower_data(self, rest)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The engine has gone: the loan is over."""
        self._stop_timer()
        self._transport = None
        if self._consultation is not None:
            self._consultation.borrower_lost(self)

    def pause_writing(self) -> None:
        """The engine reads slower than the server writes."""
        if self._consultation is not None:
            self._consultation.pause_server(full=True)

    def resume_writing(self) -> None:
        """The engine has caught up."""
        if self._consultation is not None:
            self._consultation.pause_server(full=False)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- as a borrower

    def write(self, data: bytes) -> None:
        """Sends the server's bytes."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Ends it, once everything written has gone out."""
        self._stop_timer()
        if self._transport is not None:
            self._transport.close()

    def refuse(self, error: ErrorReply) -> None:
        """Sends `error` and ends it."""
        self.write(codec.encode_fatal(error))
        self.close()


class Consultation:
    """From the request to the answer. `perform`: carries out the session's commands."""

    def __init__(
        self,
        loans: LoanListener,
        settings: GatewaySettings,
        metrics: GatewayMetrics,
        *,
        session: Session,
        perform: Callable[[list[Command]], None],
        pause_server: Callable[..., None],
        cancel: Callable[[], Awaitable[None]],
        spawn: Callable[[str, Coroutine[object, object, None]], object],
    ) -> None:
        """`pause_server` stops reading from the server while `full`; `cancel` has it stop what it does."""
        self._cancel = cancel
        self._spawn = spawn
        self._loans = loans
        self._session = session
        self._perform = perform
        self._metrics = metrics
        self.pause_server = pause_server
        self._progress_seconds = settings.nl_progress
        self._grace = settings.loan_grace
        self._waiting: deque[LoanConnection] = deque()
        self._active: LoanConnection | None = None
        self._over = False
        self._progress_timer: asyncio.TimerHandle | None = None
        self._before: int | None = None
        self._grace_timer: asyncio.TimerHandle | None = None

    async def reply(
        self, request: EngineRequest, consult: Callable[[EngineRequest], Awaitable[EngineReply]]
    ) -> EngineReply:
        """Sends `request` to the engine, as `consult` does, and returns its reply."""
        loan = self._loans.offer(self)
        teller.set(self._waits)
        self._schedule_progress(self._progress_seconds)
        try:
            asker = replace(request.asker, session=loan)
            return await consult(replace(request, asker=asker))
        finally:
            self.close()
            if loan is not None:
                self._loans.withdraw(loan)

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

    async def _waits(self, before: int | None) -> None:
        """The engine tells the question's place in its queue: at first the client is told at once."""
        first = self._before is None
        self._before = before
        if first and self._progress_seconds > 0:
            self._perform(self._session.progress(0.0, before))

    def _send_progress(self, waited: float) -> None:
        self._perform(self._session.progress(waited, self._before))
        self._progress_timer = asyncio.get_running_loop().call_later(waited, self._send_progress, 2 * waited)

    # -- loans

    @property
    def idle(self) -> bool:
        """Whether it is over and no borrower has the server."""
        return self._over and self._active is None

    def borrow(self, borrower: LoanConnection) -> None:
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

    def borrower_data(self, borrower: LoanConnection, data: bytes) -> None:
        """Bytes from a borrower."""
        loan = self._session.loan
        if borrower is self._active and loan is not None:
            self._perform(loan.receive_borrower(data))

    def borrower_lost(self, borrower: LoanConnection) -> None:
        """A borrower has closed its connection."""
        if borrower in self._waiting:
            self._waiting.remove(borrower)
        elif borrower is self._active and self._session.loan is not None:
            self._perform(self._session.loan.borrower_left())

    def carry_out(self, command: ToBorrower | CancelLent | LoanEnded) -> None:
        """Carries out a command of the loan's."""
        match command:
            case ToBorrower():
                if self._active is not None:
                    self._active.write(command.data)
            case CancelLent():
                self._start_grace()
                self._spawn("cancel", self._cancel_lent())
            case LoanEnded():
                self._ended()

    async def _cancel_lent(self) -> None:
        # Where it is not sent the loan's grace runs on, and ends the session if the server does not stop by itself.
        await self._cancel()
        if self._session.loan is not None:
            self._perform(self._session.loan.cancel_sent())

    def _start_grace(self) -> None:
        """The loan is ending: the server gets `loan_grace` seconds to stop."""
        self._metrics.loans_cancelled.inc()
        self._grace_timer = asyncio.get_running_loop().call_later(self._grace, self._grace_ended)

    def _grace_ended(self) -> None:
        self._grace_timer = None
        self._metrics.loans_overdue.inc()
        if self._session.loan is not None:
            self._perform(self._session.loan.overdue())

    def _ended(self) -> None:
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
        self._ended()
