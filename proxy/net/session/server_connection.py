"""The server's side of a session, as asyncio sees it: every event goes to the session's connection."""

from __future__ import annotations

import asyncio
from typing import Protocol, cast


class ServerEvents(Protocol):
    """The events of a connection to the server."""

    def server_connected(self, transport: asyncio.Transport) -> None:
        """The connection to the server is established."""

    def server_data(self, data: bytes) -> None:
        """Bytes from the server."""

    def server_lost(self) -> None:
        """The server has closed."""

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

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """As `ServerEvents.server_lost`."""
        self._session.server_lost()

    def pause_writing(self) -> None:
        """As `ServerEvents.server_full`."""
        self._session.server_full(full=True)

    def resume_writing(self) -> None:
        """As `ServerEvents.server_full`."""
        self._session.server_full(full=False)
