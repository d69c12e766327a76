"""One client's login at the gateway: the driver of `protocol.auth.client_login`, and its waits for secrets and keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from engine.values.messages import ErrorReply
from proxy.net import tls
from proxy.net.peers import ClientInfo
from proxy.net.worker.context import GatewayContext
from proxy.protocol.auth.client_login import (
    ClientLogin,
    DeriveKeys,
    LoginAccepted,
    LoginRefused,
    LoginStep,
    SendToClient,
    failure,
)
from proxy.protocol.auth.hba import Method
from proxy.protocol.auth.scram import ClientKeys
from proxy.protocol.auth.secrets import Credentials, Secret
from proxy.protocol.framing import (
    AUTHENTICATION_LIMIT,
    RESPONSE,
    ProtocolViolationError,
    message_end,
    unexpected_response,
)


class AuthenticationOwner(Protocol):
    """The connection that is logging in."""

    def write(self, data: bytes) -> None:
        """Sends to the client."""

    def accepted(self, credentials: Credentials, rest: bytes) -> None:
        """The client is logged in; `rest`: the bytes behind its last response."""

    def refuse(self, error: ErrorReply) -> None:
        """The login has failed with `error`."""


class Authentication:
    """One login. `begin` comes first. `head`: bytes that the client has sent already."""

    def __init__(
        self,
        host: AuthenticationOwner,
        context: GatewayContext,
        client: ClientInfo,
        method: Method,
        head: bytes,
    ) -> None:
        self._owner = host
        self._client = client
        self._method = method
        self._context = context
        self._login_service = context.login_service
        self._buffer = head
        self._login: ClientLogin | None = None
        self._waiting: asyncio.Task[None] | asyncio.Future[ClientKeys] | None = None
        self._ended = False

    def begin(self) -> None:
        """Sends the first challenge, now or when the secret has been looked up. Raises `ProtocolViolationError`."""
        user = self._client.user
        shown = {Method.CERT: tls.common_name(self._client.tls), Method.PEER: self._client.unix_user}.get(
            self._method, user
        )
        if shown != user:
            self._refuse(failure(user, self._method), f"{self._method} says {shown}")
        elif self._login_service.uses_auth_query and self._method is not Method.REJECT:
            self._waiting = self._context.spawn("login", self._look_up())
        else:
            self._challenge(self._login_service.auth_file_secret(user))

    def receive(self, data: bytes) -> None:
        """Takes bytes from the client. Raises `ProtocolViolationError`: they are no response, or too many."""
        self._buffer += data
        self._take_responses()
        if not self._ended and len(self._buffer) > AUTHENTICATION_LIMIT:
            raise ProtocolViolationError("more data than a login needs")

    def close(self) -> None:
        """The client has gone, or time is up."""
        self._ended = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def _look_up(self) -> None:
        secret = await self._login_service.find_secret(self._client.user)
        self._waiting = None
        self._guarded(lambda: self._challenge(secret))

    def _derived(self, keys: asyncio.Future[ClientKeys]) -> None:
        self._waiting = None
        login = self._login
        if not keys.cancelled() and login is not None:
            self._guarded(lambda: self._continue(login.derived(keys.result())))

    def _guarded(self, act: Callable[[], None]) -> None:
        """Runs `act` from a callback; a violation refuses the client, as no caller would handle it."""
        if self._ended:
            return
        try:
            act()
        except ProtocolViolationError as violation:
            self._refuse(ErrorReply("08P01", str(violation)), str(violation))

    def _challenge(self, secret: Secret | None) -> None:
        user = self._client.user
        challenge_inputs = self._login_service.challenge_inputs(user)
        binding = self._context.binding(self._client.tls)
        self._login = ClientLogin(user, self._method, secret, challenge_inputs, binding=binding)
        self._continue(self._login.begin())

    def _continue(self, steps: list[LoginStep]) -> None:
        self._carry_out(steps)
        self._take_responses()

    def _take_responses(self) -> None:
        """Gives the login the responses that have arrived whole, unless it waits for a secret or for keys."""
        while self._login is not None and self._waiting is None and not self._ended:
            end = message_end(
                self._buffer, kind=RESPONSE, limit=AUTHENTICATION_LIMIT, error=unexpected_response
            )
            if end is None:
                return
            message, self._buffer = self._buffer[:end], self._buffer[end:]
            self._carry_out(self._login.receive(message))

    def _carry_out(self, steps: list[LoginStep]) -> None:
        for step in steps:
            match step:
                case SendToClient():
                    self._owner.write(step.data)
                case DeriveKeys():
                    self._waiting = keys = self._login_service.deriver.derive(step.derivation)
                    keys.add_done_callback(self._derived)
                case LoginAccepted():
                    self._accept(step.credentials)
                case LoginRefused():
                    self._login_service.login_failed(self._client.user)
                    self._refuse(step.error, step.reason)

    def _accept(self, credentials: Credentials) -> None:
        if self._buffer[:1] == b"p":
            # A second response is never sent; it could pass as the response to the server's challenge.
            raise ProtocolViolationError("more responses than the login asked for")
        self._ended = True
        self._owner.accepted(credentials, self._buffer)

    def _refuse(self, error: ErrorReply, reason: str) -> None:
        self._ended = True
        self._context.log.info("login_refused", user=self._client.user, reason=reason)
        self._owner.refuse(error)
