"""The listening socket on which the engine borrows the servers of sessions that wait for it.

A token is valid for one question; its holder may act as the asker, so it goes to the engine alone: over a Unix socket
in the runtime directory (mode 700), or over the address of `lend_addr`.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path
from typing import cast

import structlog

from engine.types import LOAN_PARAMETER, ErrorReply, SessionLoan
from proxy.net.session.consultation import Consultation
from proxy.net.upstream.dialer import without_delay
from proxy.protocol import codec
from proxy.protocol.codec import Startup
from proxy.protocol.framing import ProtocolViolationError, startup_length

_SOCKET = ".s.PGSQL.{}"
_STARTUP_SECONDS = 5.0

_UNKNOWN_LOAN = ErrorReply(
    "28000", "there is no such loan", hint="Only the engine comes here, while it is asked."
)

log = structlog.stdlib.get_logger("proxy")


class LoanListener:
    """The loans that one worker offers. Opened once, closed with the worker."""

    def __init__(self, directory: str, address: str) -> None:
        """`directory`: of the Unix socket. `address`: the IP address to listen on instead; both empty: no loans."""
        self._directory = directory
        self._address = address
        self._offers: dict[str, Consultation] = {}
        self._server: asyncio.Server | None = None
        self._endpoint: tuple[str, int] | None = None

    async def open(self) -> None:
        """Listens. Raises `OSError`: the address cannot be bound, or the directory cannot be used."""
        loop = asyncio.get_running_loop()
        if self._address:
            self._server = await loop.create_server(lambda: LoanConnection(self), self._address, 0)
            self._endpoint = (self._address, self._server.sockets[0].getsockname()[1])
        elif self._directory:
            path = self._path
            path.unlink(missing_ok=True)
            self._server = await loop.create_unix_server(lambda: LoanConnection(self), str(path))
            path.chmod(0o600)
            self._endpoint = (self._directory, os.getpid())

    @property
    def _path(self) -> Path:
        return Path(self._directory) / _SOCKET.format(os.getpid())

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
        return SessionLoan(*self._endpoint, token)

    def withdraw(self, loan: SessionLoan) -> None:
        """Ends an offer."""
        self._offers.pop(loan.token, None)

    def consultation_of(self, token: str) -> Consultation | None:
        """The consultation that `token` belongs to."""
        return self._offers.get(token)


class LoanConnection(asyncio.Protocol):
    """A connection of the engine's: a `Borrower` once it has shown its token."""

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
            self._consultation.full(full=True)

    def resume_writing(self) -> None:
        """The engine has caught up."""
        if self._consultation is not None:
            self._consultation.full(full=False)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- as a Borrower

    def write(self, data: bytes) -> None:
        """As `Borrower.write`."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """As `Borrower.close`."""
        self._stop_timer()
        if self._transport is not None:
            self._transport.close()

    def refuse(self, error: ErrorReply) -> None:
        """As `Borrower.refuse`."""
        self.write(codec.encode_fatal(error))
        self.close()
