"""The server's login phase, where the gateway has a part in it.

Owns a protocol that stands before a session's own until the server has let the client in, and then steps aside:
a session without such a part never meets it, and one with it pays nothing afterwards.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from engine.types import ErrorReply
from proxy.net.tls import end_point
from proxy.protocol import codec
from proxy.protocol.auth.upstream_login import UpstreamLogin, UpstreamRefusedError, without_binding
from proxy.protocol.framing import AUTHENTICATION_LIMIT, HEADER, HEADER_SIZE, LENGTH_SIZE

_AUTHENTICATION = ord("R")
_ERROR = ord("E")


class Part(Protocol):
    """What the gateway does in the server's login phase."""

    ended: bool
    """Whether the phase is over; bytes pass from then on."""

    def connected(self, binding: bytes | None) -> None:
        """The server's socket stands; `binding` is the hash of its certificate, None without TLS."""

    def take(self, message: bytes) -> tuple[bytes, bytes]:
        """Takes a whole message of the server's. Returns what goes to the server, and what to the client.

        Raises:
            UpstreamRefusedError: The login cannot go on.
        """


class LogsIn:
    """The gateway logs in for the client."""

    def __init__(self, login: UpstreamLogin) -> None:
        self._login = login
        self.ended = False

    def connected(self, binding: bytes | None) -> None:
        """As `Part.connected`."""
        self._login.bind(binding)

    def take(self, message: bytes) -> tuple[bytes, bytes]:
        """As `Part.take`."""
        reply = self._login.receive(message)
        self.ended = self._login.ended
        return (b"", message) if reply is None else (reply, b"")


class HidesBinding:
    """The client logs in itself, and cannot bind to the server's certificate.

    `binding` is the hash of the certificate that the client sees, None without TLS: the same on both sides is no
    obstacle.
    """

    def __init__(self, binding: bytes | None) -> None:
        self._binding = binding
        self._same = False
        self.ended = False

    def connected(self, binding: bytes | None) -> None:
        """As `Part.connected`."""
        self._same = binding is not None and binding == self._binding

    def take(self, message: bytes) -> tuple[bytes, bytes]:
        """As `Part.take`."""
        # The offer of mechanisms comes first, or never.
        self.ended = message[0] in (_AUTHENTICATION, _ERROR)
        return b"", message if self._same else without_binding(message)


def wrapped(inner: Callable[[], asyncio.Protocol], part: Part | None) -> Callable[[], asyncio.Protocol]:
    """A factory of `inner`'s protocol that meets the server after `part` has ended."""
    return inner if part is None else lambda: _Handshake(inner(), part)


class _Handshake(asyncio.Protocol):
    def __init__(self, inner: asyncio.Protocol, part: Part) -> None:
        self._inner = inner
        self._part = part
        self._transport: asyncio.Transport | None = None
        self._partial = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        secured = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
        certificate = None if secured is None else secured.getpeercert(binary_form=True)
        self._part.connected(None if certificate is None else end_point(certificate))
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        data = self._partial + data
        pos = 0
        try:
            while not self._part.ended and (end := _end(data, pos)) is not None:
                to_server, to_client = self._part.take(data[pos:end])
                pos = end
                if to_server and self._transport is not None:
                    self._transport.write(to_server)
                if to_client:
                    self._inner.data_received(to_client)
        except UpstreamRefusedError as problem:
            self._fail(problem.reply)
            return
        self._partial = data[pos:]
        if self._part.ended and self._transport is not None:
            self._transport.set_protocol(self._inner)
            if self._partial:
                self._inner.data_received(self._partial)

    def _fail(self, reply: ErrorReply) -> None:
        """The client sees the error as the server's; then the connection ends."""
        self._inner.data_received(codec.encode_error(reply, "utf-8", severity=b"FATAL"))
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def _end(data: bytes, pos: int) -> int | None:
    """Where the message at `pos` ends; None where it has not arrived whole."""
    if pos + HEADER_SIZE > len(data):
        return None
    _, length = HEADER.unpack_from(data, pos)
    if not LENGTH_SIZE <= length <= AUTHENTICATION_LIMIT:
        raise UpstreamRefusedError("", "The server's login messages are not understood.")
    end = pos + 1 + int(length)
    return end if end <= len(data) else None
