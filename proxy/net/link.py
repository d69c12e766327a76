"""One client's connection and its upstream connection: bytes in, commands carried out.

Owns the two transports, the flow control between them, and the tasks of one session. Decides nothing about
the protocol: that is `proxy.protocol.session`.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, cast

from engine.types import ErrorReply
from proxy.net import pump
from proxy.net.consultation import Consultation
from proxy.net.handshake import Part, wrapped
from proxy.net.spares import Trial
from proxy.net.upstream import without_delay
from proxy.protocol import codec
from proxy.protocol.commands import (
    AbortConsult,
    CancelLent,
    Close,
    Command,
    Consult,
    Dial,
    EngineRequest,
    KeyKnown,
    LoanEnded,
    RareCommand,
    SendCancel,
    StatementFailed,
    StatementSeen,
    ToBorrower,
    ToClient,
    ToUpstream,
)
from proxy.protocol.messages import CancelRequest
from proxy.protocol.session import Session

if TYPE_CHECKING:
    from proxy.net._pump import Flow
    from proxy.net.worker import Worker

_UNREACHABLE = ErrorReply(
    "08001",
    "the gateway cannot connect to the upstream server",
    hint="The operator should see that the server runs and that upstream_host and upstream_port name it.",
)


class Link(asyncio.Protocol):
    """The client's side, and the session of both sides."""

    __slots__ = (
        "_client",
        "_client_full",
        "_consultation",
        "_flow",
        "_key",
        "_part",
        "_paused",
        "_plain_chunks",
        "_received",
        "_sent",
        "_server",
        "_session",
        "_since",
        "_task",
        "_unheard",
        "_upstream_full",
        "_worker",
    )

    def __init__(self, worker: Worker, part: Part | None = None) -> None:
        """`part`: what the gateway itself does in the server's login phase."""
        self._worker = worker
        self._part = part
        self._received = 0
        self._sent = 0
        self._session = Session(worker.limits)
        self._client: asyncio.Transport | None = None
        self._server: asyncio.Transport | None = None
        self._key: bytes | None = None
        # A session dials first and consults later, one request at a time: one task at most.
        self._task: asyncio.Task[None] | None = None
        self._since = 0.0
        self._consultation: Consultation | None = None
        self._upstream_full = False
        self._client_full = False
        self._paused = False
        self._flow: Flow | None = None
        self._unheard: bytearray | None = None
        self._plain_chunks = 0

    # -- the client's transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has connected."""
        self._client = cast("asyncio.Transport", transport)
        self._worker.opened(self)

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self._received += len(data)
        if self._session.relay_frontend(data):
            if self._server is not None:
                self._server.write(data)
        else:
            self._since = time.perf_counter()
            self._perform(self._session.receive_frontend(data))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone: so has the session."""
        self._take_back()
        self._client = None
        self._stop_task()
        if self._consultation is not None:
            self._consultation.abandon()
        if self._server is not None:
            self._server.close()
        self._worker.closed(self, self._key)

    def pause_writing(self) -> None:
        """The client reads slower than the server writes."""
        self._client_full = True
        if self._server is not None and not self._server.is_closing():
            self._server.pause_reading()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._client_full = False
        if self._server is not None and not self._server.is_closing():
            self._server.resume_reading()

    # -- the server's transport, as `_Upstream` reports it

    def server_connected(self, transport: asyncio.Transport) -> None:
        """The upstream socket stands."""
        if self._client is None:
            transport.abort()
            return
        self._server = transport
        if not self._worker.dialer.local:
            without_delay(transport)
        if self._unheard:
            again, self._unheard = self._unheard, None
            transport.write(bytes(again))
        else:
            self._perform(self._session.dialled())

    def server_data(self, data: bytes) -> None:
        """Bytes from the server."""
        self._sent += len(data)
        if self._session.relay_backend(data):
            if self._client is not None:
                self._client.write(data)
            if self._worker.pump is not None:
                self._relayed_plainly()
        else:
            self._plain_chunks = 0
            self._perform(self._session.receive_backend(data))

    def server_lost(self) -> None:
        """The server has closed: what it sent last still goes out to the client."""
        self._take_back()
        self._server = None
        self._stop_task()
        if self._client is not None:
            self._client.close()

    def server_full(self, *, full: bool) -> None:
        """The server reads slower than the client writes, or it has caught up."""
        self._upstream_full = full
        self._regulate()

    def _regulate(self) -> None:
        """Reads from the client unless its bytes have nowhere to go."""
        pause = self._upstream_full or self._session.backlogged
        if pause is self._paused or self._client is None or self._client.is_closing():
            return
        self._paused = pause
        if pause:
            self._client.pause_reading()
        else:
            self._client.resume_reading()

    # -- the compiled relay

    def _relayed_plainly(self) -> None:
        self._plain_chunks += 1
        if self._plain_chunks == pump.PATIENCE:
            # Not before the transports have written what they were just given.
            asyncio.get_running_loop().call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._plain_chunks = 0
        client, server, relay = self._client, self._server, self._worker.pump
        if client is None or server is None or relay is None or self._flow is not None:
            return
        debt = self._session.debt
        if debt is not None and not (self._paused or self._client_full):
            self._flow = pump.attach(relay, self, client, server, debt)

    def flow_ended(self) -> None:
        """The compiled relay met what it does not relay by itself."""
        if self._flow is not None:
            self._take_back()

    def _take_back(self) -> None:
        """Ends the compiled relay, if it has this session, and goes on from where it stands."""
        if self._flow is None:
            return
        returned = pump.take(self._flow)
        self._flow = None
        self._enter(returned.account)
        client, server = self._client, self._server
        if client is None or server is None:
            return
        for transport, data in ((client, returned.to_client), (server, returned.to_server)):
            if data and not transport.is_closing():
                transport.write(data)
        if not self._client_full and not server.is_closing():
            server.resume_reading()
        if not self._paused and not client.is_closing():
            client.resume_reading()
        self._go_on(client, server, returned)

    def _go_on(self, client: asyncio.Transport, server: asyncio.Transport, returned: pump.Returned) -> None:
        try:
            if returned.held:
                self._sent -= len(returned.held)
                self.server_data(returned.held)
            if returned.side == pump.CLIENT:
                self._received -= len(returned.chunk)
                self.data_received(returned.chunk)
            elif returned.side == pump.SERVER:
                self._sent -= len(returned.chunk)
                self.server_data(returned.chunk)
        except Exception:
            # As a transport does with a protocol that fails.
            self._worker.log.exception("relay_failed")
            client.abort()
            server.abort()

    def _enter(self, account: pump.Account) -> None:
        self._received += account.received
        self._sent += account.sent
        self._session.backend.relayed(account.tally)

    # -- commands

    def _perform(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToUpstream):
                if self._unheard is not None:
                    self._unheard += command.data
                if self._server is not None:
                    self._server.write(command.data)
            elif isinstance(command, ToClient):
                if self._client is not None:
                    self._client.write(command.data)
            else:
                self._perform_rare(command)
        self._regulate()

    def _perform_rare(self, command: RareCommand) -> None:
        worker = self._worker
        match command:
            case Dial():
                self._dial()
            case Consult():
                self._task = worker.spawn("consult", self._consult(command.request))
            case AbortConsult():
                self._stop_task()
            case SendCancel():
                worker.spawn("cancel", self._cancel(command.request))
            case KeyKnown():
                self._key = command.key
                worker.key_known(command.key, self)
            case ToBorrower() | CancelLent() | LoanEnded():
                self._perform_for_loan(command)
            case StatementSeen():
                worker.metrics.statements.labels(command.kind).inc()
            case StatementFailed():
                worker.metrics.errors.labels(command.error.sqlstate).inc()
                worker.log.info("nl_failed", sqlstate=command.error.sqlstate, message=command.error.message)
            case Close():
                worker.log.debug("session_ends", reason=command.reason)
                self._close()

    def _perform_for_loan(self, command: ToBorrower | CancelLent | LoanEnded) -> None:
        consultation = self._consultation
        if consultation is None:
            return
        match command:
            case ToBorrower():
                consultation.to_borrower(command.data)
            case CancelLent():
                consultation.must_end()
                self._worker.spawn("cancel", self._cancel_lent())
            case LoanEnded():
                consultation.ended()

    def _close(self) -> None:
        self._take_back()
        if self._client is not None:
            self._client.close()
        if self._server is not None:
            self._server.close()

    def _stop_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _dial(self) -> None:
        transport = self._worker.spares.take()
        if transport is None:
            self._task = self._worker.spawn("dial", self._dial_anew())
            return
        self._unheard = bytearray()
        trial = Trial(wrapped(lambda: _Upstream(self), self._part)(), self)
        transport.set_protocol(trial)
        trial.connection_made(transport)

    async def _dial_anew(self) -> None:
        dialling = self._task
        try:
            await self._worker.dialer.dial(wrapped(lambda: _Upstream(self), self._part))
            if self._task is dialling:
                # A task that has ended is half a kilobyte that every idle session would keep.
                self._task = None
        except OSError as error:
            self._worker.metrics.upstream_failures.inc()
            self._worker.log.warning("upstream_unreachable", error=str(error) or type(error).__name__)
            if self._unheard is None:
                self._perform(self._session.dial_failed(_UNREACHABLE))
            else:
                # The session takes its server for standing; the client has not been sent a byte.
                self._perform([ToClient(codec.encode_error(_UNREACHABLE, "utf-8", severity=b"FATAL"))])
                self._close()

    def heard(self) -> None:
        """The server has answered on a socket that was dialled ahead."""
        self._unheard = None

    def not_heard(self) -> None:
        """It has not, and what it was sent has had no effect: the session begins again on a fresh socket."""
        if self._client is None or self._client.is_closing():
            self.server_lost()
            return
        self._server = None
        self._worker.spares.failed()
        self._task = self._worker.spawn("dial", self._dial_anew())

    async def _consult(self, request: EngineRequest) -> None:
        asked = time.perf_counter()
        worker = self._worker
        self._consultation = Consultation(
            worker,
            self._session,
            self._perform,
            metrics=worker.metrics,
            regulate=self._lent_full,
            patience=worker.settings.nl_progress,
            grace=worker.settings.loan_grace,
        )
        reply = await self._consultation.reply(request)
        told = time.perf_counter()
        before, self._since = asked - self._since, told
        self._task = None
        self._perform(self._session.answered(reply))
        if self._consultation.idle:
            # Half a kilobyte that every session which ever asked would keep.
            self._consultation = None
        worker.metrics.engine_seconds.observe(told - asked)
        worker.metrics.overhead_seconds.observe(before + time.perf_counter() - told)

    def _lent_full(self, *, full: bool) -> None:
        if self._server is not None and not self._server.is_closing():
            (self._server.pause_reading if full else self._server.resume_reading)()

    async def _cancel_lent(self) -> None:
        try:
            await self._worker.dialer.send_once(codec.encode_cancel(self._key or b""))
        except OSError as error:
            # The loan's grace runs on, and ends the session where the server does not stop by itself.
            self._worker.log.warning("cancel_not_sent", error=str(error) or type(error).__name__)
        self._perform(self._session.cancel_sent())

    async def _cancel(self, request: CancelRequest) -> None:
        try:
            await self._worker.cancel(request)
        except OSError as error:
            self._worker.log.warning("cancel_not_sent", error=str(error) or type(error).__name__)
        finally:
            # libpq waits for this: the request has then been carried out.
            self._close()

    def cancel_requested(self) -> bool:
        """The client wants its statement cancelled. Returns whether the server has to be told."""
        self._take_back()
        forward, commands = self._session.cancelled()
        self._perform(commands)
        return forward

    def shut_down(self) -> None:
        """Ends the session from our side."""
        self._take_back()
        self._stop_task()
        self._perform(self._session.shut_down())

    # -- what the console and an orderly end want to know

    @property
    def session(self) -> Session:
        """The session as it stands now, to be read only."""
        if self._flow is not None:
            self._enter(pump.account(self._flow))
        return self._session

    @property
    def received(self) -> int:
        """Bytes that the client had sent when `session` was last read."""
        return self._received

    @property
    def sent(self) -> int:
        """Bytes that the server had sent then, which are those that the client was sent, bar translations."""
        return self._sent

    @property
    def server(self) -> asyncio.Transport | None:
        """The server's transport, None before it stands."""
        return self._server


class _Upstream(asyncio.Protocol):
    """The server's side of a link."""

    __slots__ = ("_link",)

    def __init__(self, link: Link) -> None:
        self._link = link

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._link.server_connected(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        self._link.server_data(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._link.server_lost()

    def pause_writing(self) -> None:
        self._link.server_full(full=True)

    def resume_writing(self) -> None:
        self._link.server_full(full=False)
