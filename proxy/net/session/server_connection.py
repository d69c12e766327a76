"""The server's side of a session, as asyncio sees it: every event goes to the session's connection."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol, cast

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
    """What the server had sent before a write to it failed, in chunks: a transport reads no more from then on.

    Only to be called before the transport has closed its socket. Nothing where there is TLS between.
    """
    if transport.get_extra_info("ssl_object") is not None:
        return
    descriptor = transport.get_extra_info("socket").fileno()
    with suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK):
            yield chunk
