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

    def server_lost(self, *, broken: bool) -> None:
        """The server has closed; `broken`: which a write found out, so that it may have sent what is not read yet."""

    def server_full(self, *, full: bool) -> None:
        """The server reads slower than the client writes, or it has caught up."""


class ServerConnection(asyncio.Protocol):
    """The server's side of one session."""

    __slots__ = ("_session",)

    def __init__(self, session: ServerEvents) -> None:
        self._session = session

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As `ServerEvents.server_connected`."""
        self._session.server_connected(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        """As `ServerEvents.server_data`."""
        self._session.server_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """As `ServerEvents.server_lost`."""
        self._session.server_lost(broken=exc is not None)

    def pause_writing(self) -> None:
        """As `ServerEvents.server_full`."""
        self._session.server_full(full=True)

    def resume_writing(self) -> None:
        """As `ServerEvents.server_full`."""
        self._session.server_full(full=False)


def unread(transport: asyncio.Transport) -> Iterator[bytes]:
    """What the server had sent before a write to it failed, in chunks: a transport reads no more from then on.

    Only to be called before the transport has closed its socket. Nothing where there is TLS between.
    """
    if transport.get_extra_info("ssl_object") is not None:
        return
    descriptor = transport.get_extra_info("socket").fileno()
    with suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK):
            yield chunk
