"""`auth_query`: what the upstream itself keeps of a role's password.

Owns a connection of its own for each look-up, opened by the gateway as `auth_user`. Nothing that the client sent
reaches it but the role's name, as a bind parameter: the search path and every other setting are ours (a client's
`search_path` would else decide which function the query calls, CVE-2025-12819).
"""

from __future__ import annotations

import asyncio
import secrets
import struct
from typing import cast

from proxy.net.handshake import LogsIn, wrapped
from proxy.net.upstream import Dialer
from proxy.protocol import codec
from proxy.protocol.auth.secrets import Credentials, Secret, secret_of
from proxy.protocol.auth.upstream_login import UpstreamLogin
from proxy.protocol.framing import HEADER, HEADER_SIZE
from proxy.protocol.messages import Bind, Parse
from proxy.settings import GatewaySettings

_PROTOCOL_3_0 = 3 << 16
_READY, _ROW, _ERROR = ord("Z"), ord("D"), ord("E")
_TERMINATE = codec.message(b"X", b"")
_SYNC = codec.message(b"S", b"")
_EXECUTE = codec.message(b"E", b"\0\0\0\0\0")
_NULL = -1


class LookupFailedError(Exception):
    """The look-up could not be made; the message is for the log."""


async def look_up(dialer: Dialer, settings: GatewaySettings, own: Credentials, user: str) -> Secret | None:
    """The secret of `user`; None where there is no such role, or it may not log in.

    `own` is what `auth_user` shows the server.

    Raises:
        LookupFailedError: The server cannot be asked, or does not answer in time.
    """
    asking = _Asking(settings, user)
    login = UpstreamLogin(settings.auth_user, own, secrets.token_urlsafe(18))
    try:
        async with asyncio.timeout(settings.server_connect_timeout):
            await dialer.dial(wrapped(lambda: asking, LogsIn(login)))
            rows = await asking.rows
    except OSError as problem:
        raise LookupFailedError(str(problem) or type(problem).__name__) from problem
    finally:
        asking.close()
    # A query that gives somebody else's secret would let the client in as that role.
    found = [secret for name, secret in rows if name == user]
    return secret_of(found[0]) if len(found) == 1 and found[0] is not None else None


class _Asking(asyncio.Protocol):
    def __init__(self, settings: GatewaySettings, user: str) -> None:
        self._settings = settings
        self._user = user
        self._transport: asyncio.Transport | None = None
        self._partial = b""
        self._asked = False
        self._found: list[tuple[str, str | None]] = []
        self.rows: asyncio.Future[list[tuple[str, str | None]]] = asyncio.get_running_loop().create_future()

    def close(self) -> None:
        """Ends the connection."""
        self.rows.cancel()
        if self._transport is not None:
            self._transport.write(_TERMINATE)
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        parameters = {
            "user": self._settings.auth_user,
            "database": self._settings.auth_dbname,
            "application_name": "pgparley auth_query",
            "client_encoding": "UTF8",
            "search_path": "pg_catalog",
        }
        self._transport.write(startup_packet(parameters))

    def data_received(self, data: bytes) -> None:
        data = self._partial + data
        pos = 0
        while pos + HEADER_SIZE <= len(data):
            kind, length = HEADER.unpack_from(data, pos)
            end = pos + 1 + length
            if end > len(data):
                break
            self._take(kind, data[pos:end])
            pos = end
        self._partial = data[pos:]

    def _take(self, kind: int, message: bytes) -> None:
        if self.rows.done():
            return
        if kind == _ERROR:
            fields = codec.error_fields(message)
            text = fields.get(b"M", b"").decode("utf-8", "replace")
            self.rows.set_exception(LookupFailedError(f"auth_query: {text}"))
        elif kind == _ROW:
            self._found.append(_row(message))
        elif kind == _READY and self._asked:
            self.rows.set_result(self._found)
        elif kind == _READY and self._transport is not None:
            self._asked = True
            parse = codec.encode_parse(Parse(b"", self._settings.auth_query.encode(), ()))
            name = self._user.encode("utf-8", "surrogateescape")
            bind = codec.encode_bind(Bind(b"", b"", (), (name,), b"\0\0"))
            self._transport.write(parse + bind + _EXECUTE + _SYNC)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.rows.done():
            self.rows.set_exception(
                LookupFailedError(f"auth_query: the server closed the connection ({exc})")
            )


def startup_packet(parameters: dict[str, str]) -> bytes:
    """A StartupMessage of protocol 3.0."""
    body = b"".join(
        word.encode("utf-8", "surrogateescape") + b"\0" for pair in parameters.items() for word in pair
    )
    return struct.pack(">II", len(body) + 9, _PROTOCOL_3_0) + body + b"\0"


def _row(message: bytes) -> tuple[str, str | None]:
    """The first two columns of a DataRow."""
    (count,) = struct.unpack_from(">h", message, HEADER_SIZE)
    pos = HEADER_SIZE + 2
    values: list[str | None] = []
    for _ in range(count):
        (length,) = struct.unpack_from(">i", message, pos)
        pos += 4
        values.append(None if length == _NULL else message[pos : pos + length].decode("utf-8", "replace"))
        pos += max(0, length)
    return values[0] or "", values[1] if count > 1 else None
