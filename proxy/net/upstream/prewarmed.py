"""Sockets to the server that are dialled ahead of the client: startup and login stay the client's own.

Owns them from the dial to the client, and `FirstReplyFilter`, which stands before a session until the server has
answered on one. A prewarmed socket has cost the server its fork, and the handshake where there is TLS; it belongs to no
role and no database, and it holds none of `max_connections`. How many there should be is `prewarm_target`'s.

What the server had decided by the fork is as old as the spare: its pg_hba.conf, and whether it lets clients in at
all. So spares do not live long, and one that is turned away for such a reason is replaced by a fresh socket.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Protocol, cast

from proxy.metrics import GatewayMetrics
from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.prewarm_target import PrewarmTarget
from proxy.protocol import codec
from proxy.protocol.framing import message_end

_ERROR = ord("E")

_OUTDATED = frozenset({b"57P03", b"53300"})
"""What a server says to whom it forked for while it started, ended, or was full: it may let us in by now."""


class PrewarmPool:
    """The spares of one worker, for one upstream.

    `spawn` runs a task that its owner ends. `most`: how many there may be. `lifetime`: seconds that one may wait.
    """

    def __init__(
        self,
        dialer: Dialer,
        spawn: Callable[[str, Coroutine[object, object, None]], object],
        metrics: GatewayMetrics,
        *,
        most: int,
        lifetime: float,
    ) -> None:
        self._dialer = dialer
        self._spawn = spawn
        self._metrics = metrics
        self._lifetime = lifetime
        self.demand = PrewarmTarget(most)
        """How many there should be."""
        self._standing: dict[PrewarmedSocket, None] = {}
        self._leaving: set[PrewarmedSocket] = set()
        self._coming = 0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = most == 0 or lifetime <= 0

    @property
    def standing(self) -> tuple[PrewarmedSocket, ...]:
        """Those that wait now, the oldest first."""
        return tuple(self._standing)

    @property
    def quiet(self) -> bool:
        """Whether every one that was closed has gone: with TLS that takes both sides."""
        return not self._leaving

    # -- for clients

    def take(self) -> asyncio.Transport | None:
        """The oldest, whose fork is the surest to be done; None where there is none. It needs a protocol now."""
        if self._closed:
            return None
        spare = next((one for one in self._standing if not one.transport.is_closing()), None)
        self.demand.served(None if spare is None else time.monotonic() - spare.since)
        # After what the client waits for has been written.
        asyncio.get_running_loop().call_soon(self._refill)
        if spare is None:
            return None
        del self._standing[spare]
        self._metrics.spares_used.inc()
        return spare.transport

    def failed(self) -> None:
        """One that was taken was of no use: the others are not better."""
        self.demand.failed(time.monotonic())
        self._drop(self.standing)

    # -- dialling

    def _refill(self) -> None:
        if self._closed:
            return
        for _ in range(self.demand.lacking(len(self._standing) + self._coming, time.monotonic())):
            self._coming += 1
            self._spawn("dial_ahead", self._dial())

    async def _dial(self) -> None:
        try:
            await self._dialer.dial(lambda: PrewarmedSocket(self))
        except OSError:
            # The client that comes now dials itself, and reports what it meets.
            self.demand.failed(time.monotonic())
        finally:
            self._coming -= 1

    def stands(self, spare: PrewarmedSocket) -> None:
        """One has been connected."""
        if self._closed or len(self._standing) >= self.demand.wanted:
            self._leaving.add(spare)
            spare.transport.close()
            return
        self._standing[spare] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._lifetime, self._expire)

    def lost(self, spare: PrewarmedSocket) -> None:
        """The server has closed one, or said something unasked; or we have."""
        self._leaving.discard(spare)
        if spare in self._standing:
            self.demand.unused()
            self._drop((spare,))
            self._leaving.discard(spare)

    # -- ends

    def _expire(self) -> None:
        """Closes those that nobody came for in time, one less taking the place of each."""
        self._timer = None
        now = time.monotonic()
        old = tuple(one for one in self._standing if now - one.since >= self._lifetime)
        for _ in old:
            self.demand.unused()
        self._drop(old)
        self._refill()
        if self._standing:
            seconds = next(iter(self._standing)).since + self._lifetime - now
            self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    def rest(self) -> None:
        """Closes all; there are new ones when clients come again."""
        self.demand.ended()
        self._drop(self.standing)

    def renew(self) -> None:
        """Closes all and dials as many anew."""
        self._drop(self.standing)
        self._refill()

    def close(self) -> None:
        """Closes all, for good."""
        self._closed = True
        self.rest()
        if self._timer is not None:
            self._timer.cancel()

    def _drop(self, spares: tuple[PrewarmedSocket, ...]) -> None:
        for spare in spares:
            del self._standing[spare]
            self._leaving.add(spare)
            self._metrics.spares_unused.inc()
            # Not aborted: to the server, a client that leaves before it has said a word is nothing to log.
            spare.transport.close()


class PrewarmedSocket(asyncio.Protocol):
    """One socket that waits. `since`: the clock when it stood. `connected`: the same, as seconds since the epoch."""

    def __init__(self, spares: PrewarmPool) -> None:
        self._spares = spares
        self.since = 0.0
        self.connected = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket stands."""
        self.transport = cast("asyncio.Transport", transport)
        self.since, self.connected = time.monotonic(), time.time()
        self._spares.stands(self)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002 - asyncio's signature
        """The server speaks unasked: to say that it cannot fork, for one."""
        self._spares.lost(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """It is gone."""
        self._spares.lost(self)


class FirstReplyListener(Protocol):
    """Who tries a spare."""

    def heard(self) -> None:
        """The server has answered."""

    def not_heard(self) -> None:
        """It has not, or for a reason that may be over: everything may be said again on another socket."""


class FirstReplyFilter(asyncio.Protocol):
    """Stands before `inner` until the server has answered on a socket that was dialled ahead."""

    def __init__(self, inner: asyncio.Protocol, listener: FirstReplyListener) -> None:
        self._inner = inner
        self._listener: FirstReplyListener | None = listener
        self._transport: asyncio.Transport | None = None
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The spare is the session's now."""
        self._transport = cast("asyncio.Transport", transport)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """The server's first word."""
        transport, listener = self._transport, self._listener
        if transport is None or listener is None:
            return
        self._head += data
        if not _is_complete(self._head):
            return
        self._listener = None
        if _is_outdated(self._head):
            transport.close()
            listener.not_heard()
        else:
            transport.set_protocol(self._inner)
            listener.heard()
            self._inner.data_received(self._head)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The server had closed it already, or we have."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.not_heard()

    def pause_writing(self) -> None:
        """As the transport says."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """As the transport says."""
        self._inner.resume_writing()


def _is_complete(head: bytes) -> bool:
    """Whether the first message is no error, or a whole one."""
    return head[0] != _ERROR or message_end(head) is not None


def _is_outdated(head: bytes) -> bool:
    return head[0] == _ERROR and codec.error_fields(head).get(b"C") in _OUTDATED
