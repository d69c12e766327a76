"""The way from a session to its server: on a spare, or where there is none of use on a new socket.

Owns the task that dials, and what a spare was sent before the server has answered on it. A session drops this as soon
as its server is sure: an idle session keeps nothing of it.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from engine.types import ErrorReply
from proxy.net.ports import DialContext
from proxy.net.session.server_connection import ServerConnection, ServerEvents
from proxy.net.upstream.login_phase import LoginHandler, with_login_handler
from proxy.net.upstream.prewarmed import FirstReplyFilter

_UNREACHABLE = ErrorReply(
    "08001",
    "the gateway cannot connect to the upstream server",
    hint="The operator should see that the server runs and that upstream_host and upstream_port name it.",
)


class AcquisitionEvents(ServerEvents, Protocol):
    """Whose server is dialled."""

    def server_confirmed(self) -> None:
        """Nothing has to be said again any more."""

    def prewarmed_failed(self) -> bool:
        """A spare was of no use. Returns whether the client still waits for another socket."""

    def server_unreachable(self, error: ErrorReply, *, begun: bool) -> None:
        """There is no server. `begun`: a spare stood before, so the session takes its server for standing."""


class ServerAcquisition:
    """One session's. `login_handler`: what the gateway itself does in the server's login phase."""

    __slots__ = ("_context", "_events", "_login_handler", "_task", "_unacknowledged")

    def __init__(
        self, context: DialContext, events: AcquisitionEvents, login_handler: LoginHandler | None
    ) -> None:
        self._context = context
        self._events = events
        self._login_handler = login_handler
        self._task: asyncio.Task[None] | None = None
        self._unacknowledged: bytearray | None = None

    def begin(self) -> None:
        """Takes a spare, or dials."""
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
            context.log.warning("upstream_unreachable", error=str(error) or type(error).__name__)
            self._events.server_unreachable(_UNREACHABLE, begun=self._unacknowledged is not None)
        else:
            self._events.server_confirmed()

    def sent(self, data: bytes) -> None:
        """The session has sent this to its server."""
        if self._unacknowledged is not None:
            self._unacknowledged += data

    def take_unacknowledged(self) -> bytes:
        """What has to be said again on the socket that stands now, once; empty where it is the first."""
        if not self._unacknowledged:
            return b""
        unacknowledged, self._unacknowledged = bytes(self._unacknowledged), None
        return unacknowledged

    # -- as a Trial's Listener

    def server_replied(self) -> None:
        """The server has answered on a socket that was dialled ahead."""
        self._unacknowledged = None
        self._events.server_confirmed()

    def server_silent(self) -> None:
        """It has not, and what it was sent has had no effect: the session begins again on a fresh socket."""
        if self._events.prewarmed_failed():
            self._context.prewarm_pool.failed()
            self._task = self._context.spawn("dial", self._dial())
