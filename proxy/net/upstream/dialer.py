"""Connections to the upstream server: where it is, and how long dialling may take."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast

from proxy.net.addresses import is_loopback
from proxy.net.upstream import server_tls
from proxy.settings import GatewaySettings


class Dialer:
    """Opens sockets to the upstream; startup and authentication are the client's own."""

    def __init__(self, settings: GatewaySettings, tls: ssl.SSLContext | None = None) -> None:
        self._settings = settings
        self._tls = tls
        directory = settings.upstream_host
        self._path = f"{directory}/.s.PGSQL.{settings.upstream_port}" if directory.startswith("/") else ""

    @property
    def uses_unix_socket(self) -> bool:
        """Whether the upstream is reached over a Unix socket."""
        return bool(self._path)

    @property
    def is_local(self) -> bool:
        """Whether the settings alone show that the server is on this machine."""
        return self.uses_unix_socket or is_loopback(self._settings.upstream_host)

    @staticmethod
    def upstream_identity(settings: GatewaySettings) -> tuple[str, int, str]:
        """Host, port and TLS mode: the settings of which a change means another upstream."""
        return settings.upstream_host, settings.upstream_port, settings.server_tls_sslmode

    async def dial(self, factory: Callable[[], asyncio.Protocol]) -> None:
        """Connects; `factory`'s protocol is told of it by `connection_made`.

        Raises:
            OSError: The server cannot be reached, or not in time (`TimeoutError`).
        """
        settings = self._settings
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(settings.server_connect_timeout):
            if self._path:
                await loop.create_unix_connection(factory, self._path)
            elif self._tls is not None:
                mode = settings.server_tls_sslmode
                await server_tls.connect(
                    factory, settings.upstream_host, settings.upstream_port, self._tls, mode
                )
            else:
                await loop.create_connection(factory, settings.upstream_host, settings.upstream_port)

    async def send_once(self, packet: bytes) -> None:
        """Sends a packet on a connection of its own and waits until the server closes it (CancelRequest).

        Raises:
            OSError: As `dial`.
        """
        sent = _OneWay(packet)
        try:
            await self.dial(lambda: sent)
            async with asyncio.timeout(self._settings.server_connect_timeout):
                await sent.closed.wait()
        finally:
            sent.abort()


class _OneWay(asyncio.Protocol):
    """Writes one packet and waits for the end of the connection."""

    def __init__(self, packet: bytes) -> None:
        self._packet = packet
        self._transport: asyncio.Transport | None = None
        self.closed = asyncio.Event()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._packet)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.closed.set()


def without_delay(transport: asyncio.BaseTransport) -> None:
    """Sends small messages at once; a Unix socket does so anyway."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
