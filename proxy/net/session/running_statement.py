"""The server's side of a running statement: its clock, its cancelling, and whether its client is still there."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

from engine.values.errors import for_log
from proxy.net.worker.context import GatewayContext
from proxy.protocol import codec
from proxy.protocol.commands import CancelRunning, Command, StartClock, StopClock
from proxy.protocol.replies import Allowance
from proxy.protocol.session import Session

_AGAIN = 1.0
"""Seconds after which a statement is cancelled again: the request may have come before it, or be caught by it."""

_LOOK = 0.25
"""Seconds between two looks at a client that has shut its sending side."""


async def cancel_at_server(context: GatewayContext, key: bytes | None) -> None:
    """Has the server cancel what it does for the session with this key; returns when that has been carried out."""
    try:
        await context.dialer.send_once(codec.encode_cancel(key or b""))
    except OSError as error:
        context.log.warning("cancel_not_sent", error=for_log(error))


class StatementClock:
    """Ends a session's statement when its time is over; made with the first that has an end. `key`: of the server's."""

    __slots__ = ("_context", "_key", "_perform", "_session", "_started", "_timer")

    def __init__(
        self,
        context: GatewayContext,
        session: Session,
        key: bytes | None,
        perform: Callable[[list[Command]], None],
    ) -> None:
        self._context = context
        self._session = session
        self._key = key
        self._perform = perform
        self._started = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def perform(self, command: StartClock | StopClock | CancelRunning) -> None:
        """Carries out a command."""
        match command:
            case StartClock():
                self._start(command.allowance)
            case StopClock():
                self.stop(command.allowance)
            case CancelRunning():
                self._context.spawn("cancel", self._cancel())

    def _start(self, allowance: Allowance) -> None:
        loop = asyncio.get_running_loop()
        self._started = loop.time()
        self._timer = loop.call_later(max(0.0, allowance.left), self._ring)

    def stop(self, allowance: Allowance | None = None) -> None:
        """It is done, or the session has ended: the time counts no further."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if allowance is not None:
            allowance.left -= asyncio.get_running_loop().time() - self._started

    def _ring(self) -> None:
        self._perform(self._session.overdue())

    async def _cancel(self) -> None:
        await cancel_at_server(self._context, self._key)
        self._perform(self._session.cancel_sent())
        if self._session.running is not None and self._session.running.overdue:
            self._timer = asyncio.get_running_loop().call_later(_AGAIN, self._ring)

    async def abandon(self, server: asyncio.Transport) -> None:
        """The client has gone: the server is told before its connection closes, which it would not notice."""
        self.stop()
        await cancel_at_server(self._context, self._key)
        server.close()


def close_when_gone(client: asyncio.Transport) -> None:
    """Watches a client that sends no more: a process that ended has closed its whole socket, not one side of it."""
    if client.is_closing():
        return
    found = select.poll()
    found.register(client.get_extra_info("socket").fileno(), 0)
    if found.poll(0):
        client.abort()
    else:
        asyncio.get_running_loop().call_later(_LOOK, close_when_gone, client)
