"""Authenticates a console user at the server: its login there is relayed, and closed when it has succeeded.

A server that asks for no proof shows nothing about the client: it may trust the gateway's address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from engine.values.messages import ErrorReply
from proxy.net.login_service import LOGIN_TIMEOUT
from proxy.net.session.server_connection import ServerConnection
from proxy.net.upstream.login_phase import RelayedLogin, with_login_handler
from proxy.net.worker.context import GatewayContext
from proxy.protocol import codec
from proxy.protocol.framing import (
    AUTHENTICATION_LIMIT,
    RESPONSE,
    ProtocolViolationError,
    message_end,
    unexpected_response,
)
from proxy.protocol.interruptions import SHUTTING_DOWN

_RESPONSE_LIMIT = AUTHENTICATION_LIMIT - 1
"""Length of a client's response: the whole message fits in `AUTHENTICATION_LIMIT` bytes."""
_ERROR = ord("E")
_UNREACHABLE = ErrorReply("08001", "the gateway cannot connect to the upstream server to check the password")


class UpstreamAuth(asyncio.Protocol):
    """The client's side of the login. `succeeded` is told whether the server asked for a proof."""

    def __init__(
        self, context: GatewayContext, user: str, binding: bytes | None, succeeded: Callable[[bool], None]
    ) -> None:
        self._context = context
        self._user = user
        self._binding = binding
        self._on_success = succeeded
        self._method_check = context.login_service.method_check()
        self._client: asyncio.Transport | None = None
        self._server: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._from_client = b""
        self._from_server = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Takes over the client's connection."""
        self._client = cast("asyncio.Transport", transport)
        self._context.pending_clients.add(self)
        self._context.login_service.admit(self)
        self._task = self._context.spawn("console_login", self._dial())

    async def _dial(self) -> None:
        seconds = self._context.settings.client_login_timeout or None
        try:
            factory = with_login_handler(
                lambda: ServerConnection(self), RelayedLogin(self._binding, self._method_check)
            )
            await self._context.dialer.dial(factory)
            async with asyncio.timeout(seconds):
                # Ended by cancellation, when the server has decided.
                await asyncio.get_running_loop().create_future()
        except TimeoutError:
            self.refuse(LOGIN_TIMEOUT)
        except OSError:
            self.refuse(_UNREACHABLE)

    def data_received(self, data: bytes) -> None:
        """The client's responses, and nothing else."""
        self._from_client += data
        try:
            while (end := self._response_end()) is not None:
                if self._server is not None:
                    self._server.write(self._from_client[:end])
                self._from_client = self._from_client[end:]
        except ProtocolViolationError as violation:
            self.refuse(ErrorReply("08P01", str(violation)))

    def _response_end(self) -> int | None:
        return message_end(self._from_client, kind=RESPONSE, limit=_RESPONSE_LIMIT, error=unexpected_response)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone."""
        self._client = None
        self._end()

    def server_connected(self, transport: asyncio.Transport) -> None:
        """The socket to the server is connected."""
        self._server = transport
        parameters = {
            "user": self._user,
            "database": self._context.settings.auth_dbname,
            "application_name": "pgparley console",
        }
        transport.write(codec.encode_startup(parameters))

    def server_data(self, data: bytes) -> None:
        """The server's challenges and its decision."""
        self._from_server += data
        while self._client is not None and (end := message_end(self._from_server)) is not None:
            message, self._from_server = self._from_server[:end], self._from_server[end:]
            if message == codec.AUTHENTICATION_OK:
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

    def server_full(self, *, full: bool) -> None:
        """The responses of a login are short: nothing is held back."""

    def _succeeded(self) -> None:
        client, self._client = self._client, None
        if self._server is not None:
            self._server.write(codec.TERMINATE)
        self._end()
        if client is not None:
            self._on_success(self._method_check.requested is not None)

    def _end(self) -> None:
        self._context.pending_clients.discard(self)
        self._context.login_service.release(self)
        if self._task is not None:
            self._task.cancel()
        if self._server is not None:
            self._server.close()

    def refuse(self, error: ErrorReply) -> None:
        """Ends the login."""
        if self._client is not None:
            self._client.write(codec.encode_fatal(error))
            self._client.close()

    def shut_down(self) -> None:
        """The gateway ends."""
        self.refuse(SHUTTING_DOWN)
