"""`auth_query`: reads a role's secret from the upstream, over a connection of the gateway's own.

Owns one such connection, opened as `auth_user`. Nothing that a client sent reaches it but the role's name, as a bind
parameter: the search path and every other setting are ours (a client's `search_path` would else decide which function
the query calls, CVE-2025-12819). Caching and the choice of a connection are in `role_secrets`.
"""

from __future__ import annotations

import asyncio
from typing import cast

from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.login_phase import LoginHandler, with_login_handler
from proxy.protocol import codec
from proxy.protocol.auth.secrets import Secret, secret_of
from proxy.protocol.framing import message_end
from proxy.protocol.messages import Bind, Parse
from proxy.settings import GatewaySettings

_READY, _ROW, _ERROR = ord("Z"), ord("D"), ord("E")
_EXECUTE = codec.message(b"E", b"\0\0\0\0\0")

_Row = tuple[str, str | None]


class AuthQueryError(Exception):
    """The look-up could not be made; the message is for the log: our words, and the server's SQLSTATE."""


class AuthQueryConnection(asyncio.Protocol):
    """One connection, for one question at a time. Its owner sets the deadlines, and closes it after one has passed."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._transport: asyncio.Transport | None = None
        self._partial = b""
        self._found: list[_Row] = []
        self._problem = ""
        self._answer: asyncio.Future[list[_Row]] | None = None

    @staticmethod
    async def open(
        dialer: Dialer, settings: GatewaySettings, login_handler: LoginHandler
    ) -> AuthQueryConnection:
        """One that is logged in; `login_handler` does that.

        Raises:
            OSError: The server cannot be reached.
            AuthQueryError: It does not let `auth_user` in.
        """
        connection = AuthQueryConnection(settings)
        ready = connection._expect()
        try:
            await dialer.dial(with_login_handler(lambda: connection, login_handler))
            await ready
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def usable(self) -> bool:
        """Whether it is connected and no query is under way on it."""
        return self._transport is not None and not self._transport.is_closing() and self._answer is None

    async def fetch_secret(self, user: str) -> Secret | None:
        """The secret of `user`; None where there is no such role, or it may not log in.

        Raises:
            AuthQueryError: The query fails, or the connection ends (it is not `usable` then).
        """
        answer = self._expect()
        parse = codec.encode_parse(Parse(b"", self._settings.auth_query.encode(), ()))
        name = user.encode("utf-8", "surrogateescape")
        bind = codec.encode_bind(Bind(b"", b"", (), (name,), b"\0\0"))
        if self._transport is None:
            raise AuthQueryError("auth_query: the connection is closed")
        self._transport.write(parse + bind + _EXECUTE + codec.SYNC)
        # A query that gives another role's secret would log the client in as that role.
        found = [secret for name, secret in await answer if name == user]
        return secret_of(found[0]) if len(found) == 1 and found[0] is not None else None

    def close(self) -> None:
        """Ends the connection."""
        if self._transport is not None:
            self._transport.write(codec.TERMINATE)
            self._transport.close()
            self._transport = None

    def _expect(self) -> asyncio.Future[list[_Row]]:
        """The future that the next ReadyForQuery resolves: the rows, or `AuthQueryError`."""
        self._found, self._problem = [], ""
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket to the server is connected."""
        self._transport = cast("asyncio.Transport", transport)
        parameters = {
            "user": self._settings.auth_user,
            "database": self._settings.auth_dbname,
            "application_name": "pgparley auth_query",
            "client_encoding": "UTF8",
            "search_path": "pg_catalog",
        }
        self._transport.write(codec.encode_startup(parameters))

    def data_received(self, data: bytes) -> None:
        """Bytes from the server."""
        data = self._partial + data
        pos = 0
        while (end := message_end(data, pos)) is not None:
            self._take(data[pos], data[pos:end])
            pos = end
        self._partial = data[pos:]

    def _take(self, kind: int, message: bytes) -> None:
        if kind == _ERROR:
            sqlstate = codec.error_fields(message).get(b"C", b"XX000").decode("ascii", "replace")
            self._problem = f"the server answers {sqlstate}"
        elif kind == _ROW:
            self._found.append(_row(message))
        elif kind == _READY:
            self._end(self._problem)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server has closed."""
        self._transport = None
        self._end(self._problem or f"the server closed the connection ({exc})")

    def _end(self, problem: str) -> None:
        answer, self._answer = self._answer, None
        if answer is None or answer.done():
            return
        if problem:
            answer.set_exception(AuthQueryError(f"auth_query: {problem}"))
        else:
            answer.set_result(self._found)


def _row(message: bytes) -> _Row:
    """The first two columns of a DataRow."""
    values = [
        None if value is None else value.decode("utf-8", "replace") for value in codec.decode_row(message)
    ]
    return values[0] or "", values[1] if len(values) > 1 else None
