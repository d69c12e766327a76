"""Knowing a console user by the server's word: its login there is relayed, and ended when it has succeeded.

Used where the gateway keeps no secrets itself. It is as good as the server's own check of the same role: whoever
passes could as well connect to the server as that role. A server that asks for nothing says nothing about the client:
it may trust the gateway's address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from engine.types import ErrorReply
from proxy.net.ports import GuestContext
from proxy.net.upstream.auth_query import startup_packet
from proxy.net.upstream.login_phase import Relays, wrapped
from proxy.protocol import codec
from proxy.protocol.auth.login import AUTHENTICATED
from proxy.protocol.framing import AUTHENTICATION_LIMIT, HEADER, HEADER_SIZE

_RESPONSE = ord("p")
_ERROR = ord("E")
_TERMINATE = codec.message(b"X", b"")
_UNREACHABLE = ErrorReply("08001", "the gateway cannot connect to the upstream server to check the password")


class UpstreamAuth(asyncio.Protocol):
    """The client's side of the relayed login. `binding`: what SCRAM binds to on the client's side.

    `known` is called when the server has let the client in, with whether it had asked for a proof.
    """

    def __init__(
        self, context: GuestContext, user: str, binding: bytes | None, known: Callable[[bool], None]
    ) -> None:
        self._context = context
        self._user = user
        self._binding = binding
        self._known = known
        self._watch = context.logins.watch()
        self._client: asyncio.Transport | None = None
        self._server: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._from_client = b""
        self._from_server = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client is ours now."""
        self._client = cast("asyncio.Transport", transport)
        self._context.entered(self)
        self._context.logins.admit(self)
        self._task = self._context.spawn("console_login", self._dial())

    async def _dial(self) -> None:
        seconds = self._context.settings.client_login_timeout or None
        try:
            factory = wrapped(lambda: _Server(self), Relays(self._binding, self._watch))
            await self._context.dialer.dial(factory)
            async with asyncio.timeout(seconds):
                # Ended by cancellation, when the server has decided.
                await asyncio.get_running_loop().create_future()
        except TimeoutError:
            self.refuse(ErrorReply("08P01", "canceling authentication due to timeout"))
        except OSError:
            self.refuse(_UNREACHABLE)

    def data_received(self, data: bytes) -> None:
        """The client's responses, and nothing else."""
        self._from_client += data
        while len(self._from_client) >= HEADER_SIZE:
            kind, length = HEADER.unpack_from(self._from_client)
            if kind != _RESPONSE or not HEADER_SIZE <= length + 1 <= AUTHENTICATION_LIMIT:
                self.refuse(ErrorReply("08P01", "expected a password response"))
                return
            if length + 1 > len(self._from_client):
                return
            if self._server is not None:
                self._server.write(self._from_client[: length + 1])
            self._from_client = self._from_client[length + 1 :]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone."""
        self._client = None
        self._end()

    def server_connected(self, transport: asyncio.Transport) -> None:
        """The server's socket stands."""
        self._server = transport
        parameters = {
            "user": self._user,
            "database": self._context.settings.auth_dbname,
            "application_name": "pgparley console",
        }
        transport.write(startup_packet(parameters))

    def server_data(self, data: bytes) -> None:
        """The server's challenges and its word."""
        self._from_server += data
        while len(self._from_server) >= HEADER_SIZE and self._client is not None:
            _, length = HEADER.unpack_from(self._from_server)
            if length + 1 > len(self._from_server):
                return
            message, self._from_server = self._from_server[: length + 1], self._from_server[length + 1 :]
            if message == AUTHENTICATED:
                self._succeeded()
                return
            self._client.write(message)
            if message[0] == _ERROR:
                self._client.close()

    def server_lost(self) -> None:
        """The server has closed."""
        self._server = None
        if self._client is not None:
            self._client.close()

    def _succeeded(self) -> None:
        client, self._client = self._client, None
        if self._server is not None:
            self._server.write(_TERMINATE)
        self._end()
        if client is not None:
            self._known(self._watch.asked is not None)

    def _end(self) -> None:
        self._context.left(self)
        self._context.logins.leave(self)
        if self._task is not None:
            self._task.cancel()
        if self._server is not None:
            self._server.close()

    def refuse(self, error: ErrorReply) -> None:
        """Ends the login."""
        if self._client is not None:
            self._client.write(codec.encode_error(error, "utf-8", severity=b"FATAL"))
            self._client.close()

    def shut_down(self) -> None:
        """The gateway ends."""
        self.refuse(ErrorReply("57P01", "terminating connection because the gateway shuts down"))


class _Server(asyncio.Protocol):
    def __init__(self, login: UpstreamAuth) -> None:
        self._login = login

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._login.server_connected(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        self._login.server_data(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._login.server_lost()
