"""Connections to the upstream server: where it is, how long dialling may take, and the byte that asks it for TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast

from proxy.net.peers import is_loopback
from proxy.protocol import codec
from proxy.settings import GatewaySettings, TLSMode


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

    async def dial(self, factory: Callable[[], asyncio.Protocol]) -> None:
        """Connects; `factory`'s protocol is told of it by `connection_made`. Raises `OSError` and `TimeoutError`."""
        settings = self._settings
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(settings.server_connect_timeout):
            if self._path:
                await loop.create_unix_connection(factory, self._path)
            elif self._tls is not None:
                await _connect_with_tls(factory, settings, self._tls)
            else:
                await loop.create_connection(factory, settings.upstream_host, settings.upstream_port)

    async def send_once(self, packet: bytes) -> None:
        """Sends a packet on a connection of its own and waits until the server closes it. Raises as `dial`."""
        sent = _OneWay(packet)
        try:
            await self.dial(lambda: sent)
            async with asyncio.timeout(self._settings.server_connect_timeout):
                await sent.closed.wait()
        finally:
            sent.abort()


class _OneWay(asyncio.Protocol):
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


async def _connect_with_tls(
    factory: Callable[[], asyncio.Protocol], settings: GatewaySettings, context: ssl.SSLContext
) -> None:
    """Connects, with TLS where the server speaks it; raises OSError also where the settings insist on it in vain."""
    loop = asyncio.get_running_loop()
    host = settings.upstream_host
    answer: asyncio.Future[bytes] = loop.create_future()
    plain, _ = await loop.create_connection(lambda: _TLSRequest(answer), host, settings.upstream_port)
    try:
        secured = _accepts_tls(await answer, settings.server_tls_sslmode)
        protocol = factory()
        transport: asyncio.Transport | None = plain
        if secured:
            transport = await loop.start_tls(plain, protocol, context, server_hostname=host)
        else:
            plain.set_protocol(protocol)
        if transport is not None:
            protocol.connection_made(transport)
    except BaseException:
        plain.abort()
        raise


def _accepts_tls(reply: bytes, mode: TLSMode) -> bool:
    if reply == b"S":
        return True
    if reply != b"N":
        # More than the one byte would be unencrypted data smuggled in before the handshake (CVE-2021-23222).
        raise ConnectionError("the server's reply to the TLS request is not understood")
    if mode.insists:
        raise ConnectionError(f"the server does not speak TLS, and server_tls_sslmode is {mode}")
    return False


class _TLSRequest(asyncio.Protocol):
    def __init__(self, answer: asyncio.Future[bytes]) -> None:
        self._answer = answer
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(codec.SSL_REQUEST)

    def data_received(self, data: bytes) -> None:
        if self._transport is not None and data == b"S":
            # What comes next belongs to the handshake.
            self._transport.pause_reading()
        if not self._answer.done():
            self._answer.set_result(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server closed the connection"))
