"""One client's connection and its upstream connection: bytes in, commands carried out. The protocol is `session`'s."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import cast

from engine.values.messages import EngineRequest, ErrorReply
from proxy.console.reports import ClientReport
from proxy.net import pump
from proxy.net.session.consultation import Consultation
from proxy.net.session.running_statement import StatementClock, cancel_at_server, close_when_gone
from proxy.net.session.server_connection import ServerAcquisition
from proxy.net.session.session_traffic import SessionTraffic
from proxy.net.upstream.dialer import without_delay
from proxy.net.upstream.login_phase import LoginHandler
from proxy.net.worker.context import GatewayContext
from proxy.protocol import codec
from proxy.protocol.commands import (
    AbortConsult,
    CancelLent,
    CancelRunning,
    Close,
    Command,
    Consult,
    Dial,
    KeyKnown,
    LoanEnded,
    RareCommand,
    StartClock,
    StatementFailed,
    StatementSeen,
    StopClock,
    ToBorrower,
    ToClient,
    ToUpstream,
)
from proxy.protocol.meter import Delivered
from proxy.protocol.session import Session


class SessionConnection(SessionTraffic, asyncio.Protocol):
    """The client's side, and the session of both sides."""

    __slots__ = (
        "_acquisition",
        "_client",
        "_client_full",
        "_clock",
        "_consultation",
        "_context",
        "_half_closed",
        "_key",
        "_paused",
        "_plain_chunks",
        "_received_at",
        "_task",
        "_upstream_full",
    )

    def __init__(self, context: GatewayContext, client: ClientReport, login: LoginHandler | None) -> None:
        """`login`: the gateway's part in the server's login phase, None for none."""
        settings = context.settings
        behalf = context.access.behalf
        super().__init__(Session(settings.max_question_chars, settings.nl_timeout, behalf), client)
        self._context = context
        self._acquisition: ServerAcquisition | None = ServerAcquisition(context, self, login)
        self._client: asyncio.Transport | None = None
        self._key: bytes | None = None
        # One request at a time.
        self._task: asyncio.Task[None] | None = None
        self._received_at = 0.0
        self._consultation: Consultation | None = None
        self._upstream_full = False
        self._client_full = False
        self._half_closed = False
        self._clock: StatementClock | None = None
        self._paused = False
        self._plain_chunks = 0

    # -- the client's transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has connected."""
        self._client = cast("asyncio.Transport", transport)
        self._context.opened(self)

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self.received += len(data)
        if self._session.relay_frontend(data):
            if self.server is not None:
                self.server.write(data)
        else:
            self._received_at = time.perf_counter()
            self._perform(self._session.receive_frontend(data))

    def eof_received(self) -> bool:
        """The client sends no more. Returns whether it stays connected: it still gets what it has asked for."""
        self._take_back()
        # Within a message nothing could be said that finds a client which has gone: it counts as one.
        self._half_closed = self._session.under_way and self._session.backend.at_boundary
        if self._half_closed and self._client is not None:
            self._perform(self._session.awaited())
            close_when_gone(self._client)
        return self._half_closed

    def _finish(self) -> None:
        """Ends a session whose client sends no more, once it has all."""
        if self._half_closed and not self._session.under_way:
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone: so has the session."""
        self._take_back()
        self._client = None
        self._stop_task()
        if self._consultation is not None:
            self._consultation.abandon()
        if self.server is not None:
            if self._clock is not None and self._session.running is not None:
                self._context.spawn("cancel", self._clock.abandon(self.server))
            else:
                self.server.close()
        self._context.closed(self, self._key)

    def pause_writing(self) -> None:
        """The client reads slower than the server writes."""
        self._client_full = True
        self._pause_server(full=True)

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._client_full = False
        self._pause_server(full=False)

    # -- as `ServerEvents`

    def server_connected(self, transport: asyncio.Transport) -> None:
        """The socket to the server is connected."""
        if self._client is None:
            transport.abort()
            return
        self.server = transport
        if not self._context.dialer.uses_unix_socket:
            without_delay(transport)
        unacknowledged = b"" if self._acquisition is None else self._acquisition.take_unacknowledged()
        if unacknowledged:
            transport.write(unacknowledged)
        else:
            self._perform(self._session.dialled())

    def server_data(self, data: bytes) -> None:
        """Bytes from the server."""
        self.sent += len(data)
        if self._session.relay_backend(data):
            if self._client is not None:
                self._client.write(data)
            if self._half_closed:
                self._finish()
            elif self._context.pump is not None:
                self._count_plain_chunk()
        else:
            self._plain_chunks = 0
            self._perform(self._session.receive_backend(data))

    def server_lost(self) -> None:
        """The server has closed: what it sent last still goes out to the client."""
        self._take_back()
        self.server = None
        self._stop_task()
        if self._clock is not None:
            self._clock.stop()
        if self._client is not None:
            self._client.close()

    def server_full(self, *, full: bool) -> None:
        """The server reads slower than the client writes, or it has caught up."""
        self._upstream_full = full
        self._regulate()

    def _regulate(self) -> None:
        pause = self._upstream_full or self._session.backlogged
        if pause is self._paused or self._client is None or self._client.is_closing():
            return
        self._paused = pause
        if pause:
            self._client.pause_reading()
        else:
            self._client.resume_reading()

    # -- the compiled relay

    def _count_plain_chunk(self) -> None:
        self._plain_chunks += 1
        if self._plain_chunks == pump.HANDOVER_CHUNKS:
            # Not before the transports have written what they were just given.
            asyncio.get_running_loop().call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._plain_chunks = 0
        client, server, relay = self._client, self.server, self._context.pump
        if client is None or server is None or relay is None or self._flow is not None:
            return
        relay_state = self._session.relay_state
        if relay_state is not None and not (self._paused or self._client_full):
            self._flow = pump.attach(relay, self, client, server, relay_state)

    def flow_ended(self) -> None:
        """As `RelayOwner.flow_ended`."""
        if self._flow is not None:
            self._take_back()

    def _take_back(self) -> None:
        """Takes the sockets back from the compiled relay, if it has them, and handles its last chunk."""
        if self._flow is None:
            return
        returned = pump.take(self._flow)
        self._flow = None
        self._enter(returned.account)
        client, server = self._client, self.server
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

    def _go_on(
        self, client: asyncio.Transport, server: asyncio.Transport, returned: pump.ReturnedFlow
    ) -> None:
        try:
            if returned.held:
                self.sent -= len(returned.held)
                self.server_data(returned.held)
            if returned.side == pump.CLIENT:
                self.received -= len(returned.chunk)
                self.data_received(returned.chunk)
            elif returned.side == pump.SERVER:
                self.sent -= len(returned.chunk)
                self.server_data(returned.chunk)
        except Exception:
            # As a transport does with a protocol that fails.
            self._context.log.exception("relay_failed")
            client.abort()
            server.abort()

    # -- commands

    def _perform(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToUpstream):
                if self._acquisition is not None:
                    self._acquisition.sent(command.data)
                if self.server is not None:
                    self.server.write(command.data)
            elif isinstance(command, ToClient):
                if self._client is not None:
                    self._client.write(command.data)
            else:
                self._perform_rare(command)
        self._regulate()
        self._finish()

    def _perform_rare(self, command: RareCommand) -> None:
        context = self._context
        match command:
            case Dial():
                if self._acquisition is not None:
                    self._acquisition.begin()
            case Consult():
                self._task = context.spawn("consult", self._consult(command.request))
            case AbortConsult():
                self._stop_task()
            case ToBorrower() | CancelLent() | LoanEnded():
                if self._consultation is not None:
                    self._consultation.carry_out(command)
            case StartClock() | StopClock() | CancelRunning():
                self._made_clock().perform(command)
            case KeyKnown() | StatementSeen() | StatementFailed() | Delivered():
                self._note(command)
            case Close():
                context.log.debug("session_ends", reason=command.reason)
                self._close()

    def _note(self, command: KeyKnown | StatementSeen | StatementFailed | Delivered) -> None:
        context = self._context
        match command:
            case KeyKnown():
                self._key = command.key
                context.keys.owners[command.key] = self
            case StatementSeen():
                context.metrics.statements.labels(command.kind).inc()
            case StatementFailed():
                context.statement_failed(self, command.error)
            case Delivered():
                context.trail(self).delivered(command)

    def _made_clock(self) -> StatementClock:
        if self._clock is None:
            self._clock = StatementClock(self._context, self._session, self._key, self._perform)
        return self._clock

    def _close(self) -> None:
        self._take_back()
        if self._client is not None:
            self._client.close()
        if self.server is not None:
            self.server.close()

    def _stop_task(self) -> None:
        if self._acquisition is not None:
            self._acquisition.stop()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    # -- as `AcquisitionEvents`

    def server_confirmed(self) -> None:
        """As `AcquisitionEvents.server_confirmed`."""
        self._acquisition = None

    def prewarmed_failed(self) -> bool:
        """As `AcquisitionEvents.prewarmed_failed`."""
        if self._client is None or self._client.is_closing():
            self.server_lost()
            return False
        self.server = None
        return True

    def server_unreachable(self, error: ErrorReply, *, begun: bool) -> None:
        """As `AcquisitionEvents.server_unreachable`."""
        if begun:
            # The client has not been sent a byte.
            self._perform([ToClient(codec.encode_fatal(error))])
            self._close()
        else:
            self._perform(self._session.dial_failed(error))

    # -- the engine

    async def _consult(self, request: EngineRequest) -> None:
        requested_at = time.perf_counter()
        context = self._context
        self._consultation = Consultation(
            *(context.loans, context.settings, context.metrics),
            session=self._session,
            perform=self._perform,
            pause_server=self._pause_server,
            cancel=partial(cancel_at_server, context, self._key),
            spawn=context.spawn,
        )
        reply = await self._consultation.reply(request, partial(context.consult, self))
        replied_at = time.perf_counter()
        before, self._received_at = requested_at - self._received_at, replied_at
        self._task = None
        self._session.backend.counted += context.trail(self).recorded()
        self._perform(self._session.answered(reply))
        if self._task is None and self._session.backend.counted:
            # Nothing of it goes to the server.
            context.trail(self).withdrawn(self._session.backend.counted)
            self._session.backend.counted = 0
        if self._consultation.idle:
            # Half a kilobyte that every session which ever asked would keep.
            self._consultation = None
        context.metrics.engine_seconds.observe(replied_at - requested_at)
        context.metrics.overhead_seconds.observe(before + time.perf_counter() - replied_at)

    def _pause_server(self, *, full: bool) -> None:
        if self.server is not None and not self.server.is_closing():
            (self.server.pause_reading if full else self.server.resume_reading)()

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
