"""The shutdown of a worker: which connections it waits for, and for how long.

Owns the steps from SHUTDOWN until no client is connected. The worker closes its own resources afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from proxy.net.ports import ShutdownMode
from proxy.net.worker.context import GatewayContext

_POLL_SECONDS = 0.05
"""Seconds between two checks whether sessions are at rest."""

_CLOSE_SECONDS = 1.0
"""Seconds that transports get to flush and close."""

_PENDING_LOGIN_SECONDS = 5.0
"""Seconds that clients that had connected before the shutdown began get to log in."""


class WorkerShutdown:
    """One worker's shutdown. `stop_listening` closes its listening sockets."""

    def __init__(self, context: GatewayContext, stop_listening: Callable[[], None]) -> None:
        self._context = context
        self._stop_listening = stop_listening
        self.ended = asyncio.Event()
        """Set when the worker wants to be stopped."""

    def begin(self, how: ShutdownMode) -> None:
        """Begins a shutdown; a second call, or `NOW`, ends at once."""
        context = self._context
        context.log.info("shutting_down", how=how.value or "now", sessions=len(context.sessions.connections))
        again, context.shutdown = context.shutdown is not None, how
        self._stop_listening()
        context.prewarm_pool.close()
        if how is ShutdownMode.NOW or again:
            self.ended.set()
        else:
            context.spawn("drain", self._drain(how))

    async def _drain(self, how: ShutdownMode) -> None:
        """Waits for the last session; `WAIT_FOR_SERVERS` ends each as soon as it is at rest.

        Clients that have connected already may log in where clients are waited for: a rolling restart refuses none.
        """
        context = self._context
        until = time.monotonic() + (_PENDING_LOGIN_SECONDS if how is ShutdownMode.WAIT_FOR_CLIENTS else 0)
        while context.sessions.connections or (context.pending_clients and time.monotonic() < until):
            if how is ShutdownMode.WAIT_FOR_SERVERS:
                for connection in tuple(context.sessions.connections):
                    if connection.session.at_rest:
                        connection.shut_down()
            await asyncio.sleep(_POLL_SECONDS)
        self.ended.set()

    async def finish(self) -> None:
        """Stops listening, lets sessions end for `shutdown_grace` seconds, then ends them and all other connections."""
        context = self._context
        self._stop_listening()
        context.prewarm_pool.close()
        try:
            async with asyncio.timeout(
                0 if context.shutdown is not None else context.settings.shutdown_grace
            ):
                await context.sessions.empty.wait()
        except TimeoutError:
            for connection in tuple(context.sessions.connections):
                connection.shut_down()
        for client in (*context.pending_clients, *context.consoles):
            client.shut_down()
        await self._wait_until_drained()

    async def _wait_until_drained(self) -> None:
        context = self._context
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                while not (context.sessions.drained and context.prewarm_pool.drained):  # noqa: ASYNC110 - transports close by themselves
                    await asyncio.sleep(_POLL_SECONDS / 10)
