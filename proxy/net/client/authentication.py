"""One client's login at the gateway: the driver of `protocol.auth.login`.

Owns the client's bytes from the challenge to the end of the login, and the waiting in between: for `auth_query`, and
for keys to be derived. Knows nothing of what the client wants to do once it is in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Protocol

import structlog

from engine.types import ErrorReply
from proxy.net.client.client_info import ClientInfo
from proxy.net.login_service import LoginService
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
    """Whose client it is."""

    def write(self, data: bytes) -> None:
        """Sends to the client."""

    def accepted(self, credentials: Credentials, rest: bytes) -> None:
        """The client has come in; `rest` is what it sent behind its last response."""

    def refuse(self, error: ErrorReply) -> None:
        """It has not."""


class Authentication:
    """One login. `begin` comes first.

    `head`: what the client has sent already. `binding`: what it can bind a SCRAM proof to, None without TLS.
    """

    def __init__(
        self,
        host: AuthenticationOwner,
        caller: ClientInfo,
        method: Method,
        logins: LoginService,
        *,
        head: bytes,
        binding: bytes | None,
        spawn: Callable[[str, Coroutine[object, object, None]], asyncio.Task[None]],
        log: structlog.typing.FilteringBoundLogger,
    ) -> None:
        self._host = host
        self._caller = caller
        self._method = method
        self._logins = logins
        self._binding = binding
        self._spawn = spawn
        self._log = log
        self._buffer = head
        self._login: ClientLogin | None = None
        self._waiting: asyncio.Task[None] | asyncio.Future[ClientKeys] | None = None
        self._over = False

    def begin(self) -> None:
        """Says the first word, now or when the secret has been looked up.

        Raises:
            ProtocolViolationError: As `receive`.
        """
        user = self._caller.user
        shown = {Method.CERT: self._caller.certified, Method.PEER: self._caller.unix_user}.get(
            self._method, user
        )
        if shown != user:
            self._refuse(failure(user, self._method), f"{self._method} says {shown}")
        elif self._logins.looks_up and self._method is not Method.REJECT:
            self._waiting = self._spawn("login", self._look_up())
        else:
            self._challenge(self._logins.own(user))

    def receive(self, data: bytes) -> None:
        """Takes what the client says.

        Raises:
            ProtocolViolationError: It is no response, or too much.
        """
        self._buffer += data
        self._respond()
        if not self._over and len(self._buffer) > AUTHENTICATION_LIMIT:
            raise ProtocolViolationError("more data than a login needs")

    def close(self) -> None:
        """The client has gone, or time is up."""
        self._over = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def _look_up(self) -> None:
        secret = await self._logins.look_up(self._caller.user)
        self._waiting = None
        self._guarded(lambda: self._challenge(secret))

    def _derived(self, keys: asyncio.Future[ClientKeys]) -> None:
        self._waiting = None
        login = self._login
        if not keys.cancelled() and login is not None:
            self._guarded(lambda: self._go_on(login.derived(keys.result())))

    def _guarded(self, act: Callable[[], None]) -> None:
        """Does what `receive` does, where no caller takes the error."""
        if self._over:
            return
        try:
            act()
        except ProtocolViolationError as violation:
            self._refuse(ErrorReply("08P01", str(violation)), str(violation))

    def _challenge(self, secret: Secret | None) -> None:
        user = self._caller.user
        chance = self._logins.chance(user)
        self._login = ClientLogin(user, self._method, secret, chance, binding=self._binding)
        self._go_on(self._login.begin())

    def _go_on(self, steps: list[LoginStep]) -> None:
        self._carry_out(steps)
        self._respond()

    def _respond(self) -> None:
        """Gives the login what has arrived whole, unless it waits for something else."""
        while self._login is not None and self._waiting is None and not self._over:
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
                    self._host.write(step.data)
                case DeriveKeys():
                    self._waiting = keys = self._logins.deriver.derive(step.derivation)
                    keys.add_done_callback(self._derived)
                case LoginAccepted():
                    self._accept(step.credentials)
                case LoginRefused():
                    self._logins.doubt(self._caller.user)
                    self._refuse(step.error, step.reason)

    def _accept(self, credentials: Credentials) -> None:
        if self._buffer[:1] == b"p":
            # Nobody sends a second response; here it could pose as the answer to the server.
            raise ProtocolViolationError("more responses than the login asked for")
        self._over = True
        self._host.accepted(credentials, self._buffer)

    def _refuse(self, error: ErrorReply, reason: str) -> None:
        self._over = True
        self._log.info("login_refused", user=self._caller.user, reason=reason)
        self._host.refuse(error)
