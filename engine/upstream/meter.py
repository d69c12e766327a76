"""Counts the bytes that a server sends, and drops the connection when they are too many.

The driver reads a whole message before its size can be checked, and code of an asker's own can produce one of a
gigabyte (the text of an error, for example). So the bytes are counted below the driver.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import asyncpg


class Meter(asyncio.Protocol):
    """Stands between a transport and the driver's protocol. `exceeded`: the connection was dropped for its size."""

    def __init__(self, transport: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._left: int | None = None
        self.exceeded = False

    def allow(self, count: int | None) -> None:
        """How many bytes may come from now on; None: any number."""
        self._left = count

    def data_received(self, data: bytes) -> None:
        """Bytes from the server."""
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                self.exceeded = True
                self._transport.abort()
                return
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        """The server will send nothing more."""
        return self._protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """The server reads slower than is written."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """The server has caught up."""
        self._protocol.resume_writing()


class MeteredConnection(asyncpg.Connection):
    """The driver's connection with a `meter` in front of it."""

    __slots__ = ("meter",)

    def __init__(self, protocol: Any, transport: Any, *arguments: Any) -> None:
        super().__init__(protocol, transport, *arguments)
        self.meter = Meter(cast("asyncio.Transport", transport), protocol)
        transport.set_protocol(self.meter)

    @property
    def unwrapped(self) -> MeteredConnection:
        """The connection itself: a pool's proxy for it raises on every attribute once the connection is closed."""
        return self
