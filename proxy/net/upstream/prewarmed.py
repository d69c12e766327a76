"""Sockets to the server that are dialled ahead of the client: startup and login stay the client's own.

Owns them from the dial to the client. The server read pg_hba.conf when it forked: so they do not live long, and a
refused one is replaced (`proxy.net.session.server_connection`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import cast

from proxy.metrics import GatewayMetrics
from proxy.net.upstream.dialer import Dialer

MIN_AGE = 0.02
"""Seconds after its dial from which a socket saves its client time: the server needs about a millisecond to fork, and
more where many clients come at once."""

RETRY_SECONDS = 1.0
"""Seconds without prewarmed sockets after the server could not be reached or was full."""


class PrewarmTarget:
    """Grows by one for each client that found no socket old enough, shrinks by one for each unused socket."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._until = float("-inf")

    @property
    def count(self) -> int:
        """Sockets that should stand or be on their way."""
        return self._count

    def missing(self, waiting: int, now: float) -> int:
        """How many to dial now; `waiting`: those that are on their way included."""
        return 0 if now < self._until else max(0, self._count - waiting)

    def served(self, age: float | None) -> None:
        """A client got a socket that had waited for `age` seconds; None: there was none."""
        if age is None or age < MIN_AGE:
            self._count = min(self._limit, self._count + 1)

    def unused(self) -> None:
        """One has gone without a client: too old, or closed by the server."""
        self._count = max(0, self._count - 1)

    def failed(self, now: float) -> None:
        """The server cannot be reached, or turns clients away: not the time to hold places there."""
        self._count = 0
        self._until = now + RETRY_SECONDS

    def ended(self) -> None:
        """No clients are expected: the target is 0."""
        self._count = 0


class PrewarmPool:
    """The prewarmed sockets of one worker. `limit`: at most; `lifetime`: seconds; `spawn` runs its owner's tasks."""

    def __init__(
        self,
        dialer: Dialer,
        spawn: Callable[[str, Coroutine[object, object, None]], object],
        metrics: GatewayMetrics,
        *,
        limit: int,
        lifetime: float,
    ) -> None:
        self._dialer = dialer
        self._spawn = spawn
        self._metrics = metrics
        self._lifetime = lifetime
        self.target = PrewarmTarget(limit)
        """How many sockets to keep."""
        self._waiting: dict[PrewarmedSocket, None] = {}
        self._closing: set[PrewarmedSocket] = set()
        self._dialling = 0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = limit == 0 or lifetime <= 0

    @property
    def waiting(self) -> tuple[PrewarmedSocket, ...]:
        """The sockets that wait for a client, the oldest first."""
        return tuple(self._waiting)

    @property
    def drained(self) -> bool:
        """Whether every socket that was closed is gone: with TLS both sides have to close."""
        return not self._closing

    # -- for clients

    def take(self) -> asyncio.Transport | None:
        """The oldest socket's transport, for the caller to set a protocol; None where there is none."""
        if self._closed:
            return None
        socket = next((one for one in self._waiting if not one.transport.is_closing()), None)
        self.target.served(None if socket is None else time.monotonic() - socket.waiting_since)
        # After the client's startup packet has been written.
        asyncio.get_running_loop().call_soon(self._refill)
        if socket is None:
            return None
        del self._waiting[socket]
        self._metrics.spares_used.inc()
        return socket.transport

    def failed(self) -> None:
        """A socket that was taken was refused: all are closed, and none is dialled for `RETRY_SECONDS`."""
        self.target.failed(time.monotonic())
        self._drop(self.waiting)

    # -- dialling

    def _refill(self) -> None:
        if self._closed:
            return
        for _ in range(self.target.missing(len(self._waiting) + self._dialling, time.monotonic())):
            self._dialling += 1
            self._spawn("dial_ahead", self._dial())

    async def _dial(self) -> None:
        try:
            await self._dialer.dial(lambda: PrewarmedSocket(self))
        except OSError:
            # The next client dials for itself and reports the error.
            self.target.failed(time.monotonic())
        finally:
            self._dialling -= 1

    def socket_connected(self, socket: PrewarmedSocket) -> None:
        """One has been connected."""
        if self._closed or len(self._waiting) >= self.target.count:
            self._closing.add(socket)
            socket.transport.close()
            return
        self._waiting[socket] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._lifetime, self._expire)

    def socket_lost(self, socket: PrewarmedSocket) -> None:
        """The server has closed one, or said something unasked; or we have."""
        self._closing.discard(socket)
        if socket in self._waiting:
            self.target.unused()
            self._drop((socket,))
            self._closing.discard(socket)

    # -- ends

    def _expire(self) -> None:
        """Closes those that went unused for `lifetime`; each lowers the target by one."""
        self._timer = None
        now = time.monotonic()
        old = tuple(one for one in self._waiting if now - one.waiting_since >= self._lifetime)
        for _ in old:
            self.target.unused()
        self._drop(old)
        self._refill()
        if self._waiting:
            seconds = next(iter(self._waiting)).waiting_since + self._lifetime - now
            self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    def close_idle(self) -> None:
        """Closes all and sets the target to 0."""
        self.target.ended()
        self._drop(self.waiting)

    def redial(self) -> None:
        """Closes all and dials as many anew."""
        self._drop(self.waiting)
        self._refill()

    def close(self) -> None:
        """Closes all, for good."""
        self._closed = True
        self.close_idle()
        if self._timer is not None:
            self._timer.cancel()

    def _drop(self, sockets: tuple[PrewarmedSocket, ...]) -> None:
        for socket in sockets:
            del self._waiting[socket]
            self._closing.add(socket)
            self._metrics.spares_unused.inc()
            # Not aborted: the server logs nothing for a client that closes before its startup packet.
            socket.transport.close()


class PrewarmedSocket(asyncio.Protocol):
    """A socket that waits for a client. `waiting_since`: on the monotonic clock; `connected`: since the epoch."""

    def __init__(self, pool: PrewarmPool) -> None:
        self._pool = pool
        self.waiting_since = 0.0
        self.connected = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is connected."""
        self.transport = cast("asyncio.Transport", transport)
        self.waiting_since, self.connected = time.monotonic(), time.time()
        self._pool.socket_connected(self)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002 - asyncio's signature
        """The server sends before it was sent anything: for example, that it cannot fork."""
        self._pool.socket_lost(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """It is gone."""
        self._pool.socket_lost(self)
