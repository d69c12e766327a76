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

    def server_sure(self) -> None:
        """Nothing has to be said again any more."""

    def server_gone(self) -> bool:
        """A spare was of no use. Returns whether the client still waits for another socket."""

    def unreachable(self, error: ErrorReply, *, begun: bool) -> None:
        """There is no server. `begun`: a spare stood before, so the session takes its server for standing."""


class ServerAcquisition:
    """One session's. `part`: what the gateway itself does in the server's login phase."""

    __slots__ = ("_context", "_dialler", "_part", "_task", "_unheard")

    def __init__(self, context: DialContext, dialler: AcquisitionEvents, part: LoginHandler | None) -> None:
        self._context = context
        self._dialler = dialler
        self._part = part
        self._task: asyncio.Task[None] | None = None
        self._unheard: bytearray | None = None

    def begin(self) -> None:
        """Takes a spare, or dials."""
        transport = self._context.spares.take()
        if transport is None:
            self._task = self._context.spawn("dial", self._dial())
            return
        self._unheard = bytearray()
        trial = FirstReplyFilter(self._server(), self)
        transport.set_protocol(trial)
        trial.connection_made(transport)

    def _server(self) -> asyncio.Protocol:
        return with_login_handler(lambda: ServerConnection(self._dialler), self._part)()

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
            self._dialler.unreachable(_UNREACHABLE, begun=self._unheard is not None)
        else:
            self._dialler.server_sure()

    def sent(self, data: bytes) -> None:
        """The session has sent this to its server."""
        if self._unheard is not None:
            self._unheard += data

    def said_in_vain(self) -> bytes:
        """What has to be said again on the socket that stands now, once; empty where it is the first."""
        if not self._unheard:
            return b""
        again, self._unheard = bytes(self._unheard), None
        return again

    # -- as a Trial's Listener

    def heard(self) -> None:
        """The server has answered on a socket that was dialled ahead."""
        self._unheard = None
        self._dialler.server_sure()

    def not_heard(self) -> None:
        """It has not, and what it was sent has had no effect: the session begins again on a fresh socket."""
        if self._dialler.server_gone():
            self._context.spares.failed()
            self._task = self._context.spawn("dial", self._dial())
