"""TLS to the upstream: asking for it, and the upgrade of the connection.

Owns the one byte between a plain socket and a TLS one. Certificates are handled in `tls`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

from proxy.protocol import codec
from proxy.settings import TLSMode


async def connect(
    factory: Callable[[], asyncio.Protocol], host: str, port: int, context: ssl.SSLContext, mode: TLSMode
) -> None:
    """Connects, with TLS where the server speaks it; `factory`'s protocol is told by `connection_made`.

    Raises:
        OSError: The server cannot be reached, refuses TLS that `mode` insists on, or its certificate is bad.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()
    plain, _ = await loop.create_connection(lambda: _TLSRequest(answer), host, port)
    try:
        secured = _accepts_tls(await answer, mode)
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
    """Whether the server is going to speak TLS."""
    if reply == b"S":
        return True
    if reply != b"N":
        # More than the one byte would be unencrypted data smuggled in before the handshake (CVE-2021-23222).
        raise ConnectionError("the server's reply to the TLS request is not understood")
    if mode.insists:
        raise ConnectionError(f"the server does not speak TLS, and server_tls_sslmode is {mode}")
    return False


class _TLSRequest(asyncio.Protocol):
    """Sends SSLRequest and takes the reply."""

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
