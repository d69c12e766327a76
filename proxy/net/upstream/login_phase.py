"""The server's login phase, where the gateway takes part in it: a protocol before the session's own until it is over.

Also owns the threads that derive keys; their queue is bounded by the logins under way.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

from engine.values.messages import ErrorReply
from proxy.net.peers import is_local
from proxy.net.tls import end_point
from proxy.protocol import codec
from proxy.protocol.auth.scram import ClientKeys, KeyDerivation
from proxy.protocol.auth.server_methods import MethodCheck, UpstreamRefusedError
from proxy.protocol.auth.upstream_login import UpstreamLogin, without_binding
from proxy.protocol.framing import AUTHENTICATION_LIMIT, message_end

_THREADS = 2
"""Two, so that a derivation does not wait for a longer one; hashlib releases the interpreter's lock meanwhile."""


class DerivationPool:
    """Threads that are started when they are needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="scram")

    def derive(self, derivation: KeyDerivation) -> asyncio.Future[ClientKeys]:
        """Carries `derivation` out. Cancelled before its turn, it is never begun."""
        return asyncio.get_running_loop().run_in_executor(self._threads, derivation.keys)

    def close(self) -> None:
        """Ends the threads; derivations that have not begun are cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)


_ERROR = ord("E")


@dataclass(frozen=True, slots=True)
class LoginReply:
    """Bytes to write to the server, and bytes to write to the client."""

    to_server: bytes = b""
    to_client: bytes = b""


class GatewayLogin:
    """The gateway logs in for the client. `refused`: called where it is not let in."""

    def __init__(
        self,
        login: UpstreamLogin,
        method_check: MethodCheck,
        deriver: DerivationPool,
        refused: Callable[[], None],
    ) -> None:
        self._login = login
        self.method_check = method_check
        self._deriver = deriver
        self._refused = refused

    def connected(self, binding: bytes | None) -> None:
        """The socket to the server is connected. `binding`: `end_point` of its certificate, None without TLS."""
        self._login.bind(binding)

    def take(self, message: bytes) -> LoginReply | asyncio.Future[LoginReply]:
        """Takes a whole message; the next when a returned future is done. Both may raise `UpstreamRefusedError`."""
        if message[0] == _ERROR:
            self._refused()
        reply = self._login.receive(message)
        if isinstance(reply, KeyDerivation):
            return asyncio.get_running_loop().create_task(self._derive(reply), name="derive")
        return LoginReply(to_client=message) if reply is None else LoginReply(to_server=reply)

    async def _derive(self, derivation: KeyDerivation) -> LoginReply:
        return LoginReply(to_server=self._login.derived(await self._deriver.derive(derivation)))


class RelayedLogin:
    """The client logs in itself. `binding`: the hash of the certificate that it sees, None without TLS."""

    def __init__(self, binding: bytes | None, method_check: MethodCheck) -> None:
        self._binding = binding
        self.method_check = method_check
        self._strips_binding = False

    def connected(self, binding: bytes | None) -> None:
        """As `GatewayLogin.connected`."""
        # A server with TLS offers channel binding also where its certificate defines none.
        self._strips_binding = binding is None or binding != self._binding

    def take(self, message: bytes) -> LoginReply:
        """As `GatewayLogin.take`."""
        return LoginReply(to_client=without_binding(message) if self._strips_binding else message)


LoginHandler = GatewayLogin | RelayedLogin
"""Handles the messages of the server's login phase, each after its `method_check` has passed it."""


def with_login_handler(
    inner: Callable[[], asyncio.Protocol], handler: LoginHandler | None
) -> Callable[[], asyncio.Protocol]:
    """A factory of `inner`'s protocol that meets the server after `handler` has ended."""
    return inner if handler is None else lambda: _LoginPhase(inner(), handler)


class _LoginPhase(asyncio.Protocol):
    def __init__(self, inner: asyncio.Protocol, handler: LoginHandler) -> None:
        self._inner = inner
        self._handler = handler
        self._check = handler.method_check
        self._transport: asyncio.Transport | None = None
        self._partial = b""
        self._pending: asyncio.Future[LoginReply] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        binding, trusted = _channel(transport)
        self._check.bind(trusted=trusted)
        self._handler.connected(binding)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self._partial += data
        try:
            self._proceed()
        except UpstreamRefusedError as problem:
            self._fail(problem.reply)

    def _proceed(self) -> None:
        while self._pending is None and not self._check.ended:
            end = message_end(self._partial, limit=AUTHENTICATION_LIMIT, error=_not_understood)
            if end is None:
                break
            message, self._partial = self._partial[:end], self._partial[end:]
            self._check.check(message)
            answer = self._handler.take(message)
            if isinstance(answer, LoginReply):
                self._pass_on(answer)
            else:
                self._pending = answer
                answer.add_done_callback(self._answered)
        if self._check.ended and self._transport is not None:
            rest, self._partial = self._partial, b""
            self._transport.set_protocol(self._inner)
            if rest:
                self._inner.data_received(rest)

    def _pass_on(self, answer: LoginReply) -> None:
        if answer.to_server and self._transport is not None:
            self._transport.write(answer.to_server)
        if answer.to_client:
            self._inner.data_received(answer.to_client)

    def _answered(self, answer: asyncio.Future[LoginReply]) -> None:
        self._pending = None
        if answer.cancelled():
            return
        try:
            self._pass_on(answer.result())
            self._proceed()
        except UpstreamRefusedError as problem:
            self._fail(problem.reply)

    def _fail(self, reply: ErrorReply) -> None:
        """The client sees the error as the server's; then the connection ends."""
        self._inner.data_received(codec.encode_fatal(reply))
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._pending is not None:
            self._pending.cancel()
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def _channel(transport: asyncio.BaseTransport) -> tuple[bytes | None, bool]:
    """What `end_point` says of the server's certificate, and whether it is checked, or the server is local."""
    secured = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
    trusted = is_local(transport)
    if secured is None:
        return None, trusted
    certificate = secured.getpeercert(binary_form=True)
    checked = secured.context.verify_mode is ssl.CERT_REQUIRED
    return None if certificate is None else end_point(certificate), trusted or checked


def _not_understood() -> UpstreamRefusedError:
    return UpstreamRefusedError(ErrorReply("08P01", "the server's login messages are not understood"))
