"""The server's side of a session: how it gets its connection there, and every event of that connection."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol, cast

from engine.values.errors import for_log
from engine.values.messages import ErrorReply
from proxy.net.upstream.login_phase import LoginHandler, with_login_handler
from proxy.net.worker.context import GatewayContext
from proxy.protocol import codec
from proxy.protocol.framing import message_end

_CHUNK = 65536


class ServerEvents(Protocol):
    """The events of a connection to the server."""

    def server_connected(self, transport: asyncio.Transport) -> None:
        """The connection to the server is established."""

    def server_data(self, data: bytes) -> None:
        """Bytes from the server."""

    def server_lost(self) -> None:
        """The server has closed; what it sent before has been told."""

    def server_full(self, *, full: bool) -> None:
        """The server reads slower than the client writes, or it has caught up."""


class ServerConnection(asyncio.Protocol):
    """The server's side of one session."""

    __slots__ = ("_session", "_transport")

    def __init__(self, session: ServerEvents) -> None:
        self._session = session
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As `ServerEvents.server_connected`."""
        self._transport = cast("asyncio.Transport", transport)
        self._session.server_connected(self._transport)

    def data_received(self, data: bytes) -> None:
        """As `ServerEvents.server_data`."""
        self._session.server_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """As `ServerEvents.server_lost`, after what was not read where a write found the server gone."""
        transport, self._transport = self._transport, None
        if exc is not None and transport is not None:
            for chunk in _unread(transport):
                self._session.server_data(chunk)
        self._session.server_lost()

    def pause_writing(self) -> None:
        """As `ServerEvents.server_full`."""
        self._session.server_full(full=True)

    def resume_writing(self) -> None:
        """As `ServerEvents.server_full`."""
        self._session.server_full(full=False)


def _unread(transport: asyncio.Transport) -> Iterator[bytes]:
    """What the server sent before a write to it failed, in chunks; before its socket is closed, none with TLS."""
    if transport.get_extra_info("ssl_object") is not None:
        return
    descriptor = transport.get_extra_info("socket").fileno()
    with suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK):
            yield chunk


_UNREACHABLE = ErrorReply(
    "08001",
    "the gateway cannot connect to the upstream server",
    hint="The operator should see that the server runs and that upstream_host and upstream_port name it.",
)


class AcquisitionEvents(ServerEvents, Protocol):
    """The session whose server is dialled."""

    def server_confirmed(self) -> None:
        """The connection is in use: nothing will be sent again."""

    def prewarmed_failed(self) -> bool:
        """The prewarmed socket was unusable. Returns whether the client still waits for another."""

    def server_unreachable(self, error: ErrorReply, *, begun: bool) -> None:
        """The server cannot be reached. `begun`: a prewarmed socket was, so the session has begun its login."""


class ServerAcquisition:
    """One session's. `login_handler`: the gateway's part in the server's login phase, None for none."""

    __slots__ = ("_context", "_events", "_login_handler", "_task", "_unacknowledged")

    def __init__(
        self, context: GatewayContext, events: AcquisitionEvents, login_handler: LoginHandler | None
    ) -> None:
        self._context = context
        self._events = events
        self._login_handler = login_handler
        self._task: asyncio.Task[None] | None = None
        self._unacknowledged: bytearray | None = None

    def begin(self) -> None:
        """Takes a prewarmed socket, or dials."""
        transport = self._context.prewarm_pool.take()
        if transport is None:
            self._task = self._context.spawn("dial", self._dial())
            return
        self._unacknowledged = bytearray()
        first_reply = FirstReplyFilter(self._server(), self)
        transport.set_protocol(first_reply)
        first_reply.connection_made(transport)

    def _server(self) -> asyncio.Protocol:
        return with_login_handler(lambda: ServerConnection(self._events), self._login_handler)()

    def stop(self) -> None:
        """The session has ended."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _dial(self) -> None:
        context = self._context
        try:
            await context.dialer.dial(self._server)
        except OSError as error:
            context.metrics.upstream_failures.inc()
            context.log.warning("upstream_unreachable", error=for_log(error))
            self._events.server_unreachable(_UNREACHABLE, begun=self._unacknowledged is not None)
        else:
            self._events.server_confirmed()

    def sent(self, data: bytes) -> None:
        """The session has sent this to its server."""
        if self._unacknowledged is not None:
            self._unacknowledged += data

    def take_unacknowledged(self) -> bytes:
        """The bytes to send again on the new socket, given once; empty where it is the first socket."""
        if not self._unacknowledged:
            return b""
        unacknowledged, self._unacknowledged = bytes(self._unacknowledged), None
        return unacknowledged

    # -- of `FirstReplyFilter`

    def server_replied(self) -> None:
        """The server has answered on a socket that was dialled ahead."""
        self._unacknowledged = None
        self._events.server_confirmed()

    def server_silent(self) -> None:
        """It has closed, or refused for a reason that may have passed: the session begins again on a new socket.

        Nothing that it was sent took effect.
        """
        if self._events.prewarmed_failed():
            self._context.prewarm_pool.failed()
            self._task = self._context.spawn("dial", self._dial())


_ERROR = ord("E")

_OUTDATED = frozenset({b"57P03", b"53300"})
"""SQLSTATEs that a server sends on a socket that it forked for while it started, shut down or was full: it may accept a
new one."""


class FirstReplyFilter(asyncio.Protocol):
    """Stands before `inner` until the server has answered on a socket that was dialled ahead."""

    def __init__(self, inner: asyncio.Protocol, listener: ServerAcquisition) -> None:
        self._inner = inner
        self._listener: ServerAcquisition | None = listener
        self._transport: asyncio.Transport | None = None
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket belongs to the session from now on."""
        self._transport = cast("asyncio.Transport", transport)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """The server's first reply."""
        transport, listener = self._transport, self._listener
        if transport is None or listener is None:
            return
        self._head += data
        if not _is_complete(self._head):
            return
        self._listener = None
        if _is_outdated(self._head):
            transport.close()
            listener.server_silent()
        else:
            transport.set_protocol(self._inner)
            listener.server_replied()
            self._inner.data_received(self._head)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The server had closed it already, or we have."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.server_silent()

    def pause_writing(self) -> None:
        """As the transport calls it."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """As the transport calls it."""
        self._inner.resume_writing()


def _is_complete(head: bytes) -> bool:
    return head[0] != _ERROR or message_end(head) is not None


def _is_outdated(head: bytes) -> bool:
    return head[0] == _ERROR and codec.error_fields(head).get(b"C") in _OUTDATED
