"""The first moments of a client: where it wants to go, and whether it may.

Owns a connection up to the point where a session or the console takes it over, the login at the gateway
included. Knows no TLS handshake: that is `gate`'s, and has happened before.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, cast

from engine.types import ErrorReply
from proxy.console.grammar import Rights
from proxy.console.reports import Visitor
from proxy.net.access import CONSOLES, OWNERS
from proxy.net.caller import Caller
from proxy.net.console import ConsoleConnection
from proxy.net.console_login import ServersWord
from proxy.net.handshake import HidesBinding, LogsIn, Part
from proxy.net.link import Link
from proxy.net.upstream import without_delay
from proxy.protocol import codec
from proxy.protocol.auth.hba import Method
from proxy.protocol.auth.login import Accepted, Login, Refused, Send, Step, failure
from proxy.protocol.auth.secrets import Credentials, MD5Hash, Password, Secret
from proxy.protocol.auth.upstream_login import UpstreamLogin
from proxy.protocol.framing import (
    AUTHENTICATION_LIMIT,
    HEADER,
    HEADER_SIZE,
    LENGTH_SIZE,
    ProtocolViolationError,
    startup_length,
)
from proxy.protocol.messages import CancelRequest, EncryptionRequest, Startup

if TYPE_CHECKING:
    from proxy.net.worker import Worker

_RESPONSE = ord("p")
_MOST_REQUESTS = 2
"""GSSENCRequest and SSLRequest, once each."""

STUFFED = ErrorReply(
    "08P01",
    "received unencrypted data after SSL request",
    "This is either a bug in the client or somebody in the middle.",
)


class Door(asyncio.Protocol):
    """One client before its session. `head`: what has been read from it already."""

    def __init__(self, worker: Worker, head: bytes = b"") -> None:
        self._worker = worker
        self._buffer = head
        self._requests = 0
        self._transport: asyncio.Transport | None = None
        self._startup: Startup | None = None
        self._caller: Caller | None = None
        self._login: Login | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._connected = time.time()

    # -- the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has connected."""
        self._transport = cast("asyncio.Transport", transport)
        without_delay(transport)
        self._worker.entered(self)
        seconds = self._worker.settings.client_login_timeout
        if seconds > 0:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._timed_out)
        if self._buffer:
            self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone before it came in."""
        self._leave()
        if self._waiting is not None:
            self._waiting.cancel()
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self._buffer += data
        try:
            self._process()
        except ProtocolViolationError as violation:
            self.refuse(ErrorReply("08P01", str(violation)))

    def _process(self) -> None:
        while self._startup is None and self._transport is not None:
            length = startup_length(self._buffer)
            if length is None or length > len(self._buffer):
                return
            packet, self._buffer = self._buffer[:length], self._buffer[length:]
            self._first(packet, self._transport)
        if self._login is not None:
            self._responses(self._login)
        elif len(self._buffer) > AUTHENTICATION_LIMIT:
            raise ProtocolViolationError("more data than a login needs")

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._worker.left(self)

    # -- the first packet

    def _first(self, packet: bytes, transport: asyncio.Transport) -> None:
        first = codec.decode_first(packet)
        match first:
            case EncryptionRequest():
                self._encryption_asked(transport)
            case CancelRequest():
                self._startup = Startup(packet, ())
                self._hand_over(packet, None, None)
            case Startup() if first.parameter("user") is None:
                # A protocol version that is not ours, or no user: the server knows what to say.
                self._startup = first
                self._hand_over(packet, None, None)
            case Startup():
                self._startup = first
                self._caller = Caller(transport, first)
                self._greet(self._caller)

    def _encryption_asked(self, transport: asyncio.Transport) -> None:
        """What `gate` leaves to us: TLS is off, or stands already."""
        self._requests += 1
        if self._buffer:
            self.refuse(STUFFED)
        elif transport.get_extra_info("ssl_object") is not None or self._requests > _MOST_REQUESTS:
            raise ProtocolViolationError("encryption was asked for twice")
        else:
            transport.write(b"N")

    def _greet(self, caller: Caller) -> None:
        worker = self._worker
        if worker.settings.client_tls_sslmode.insists and caller.tls is None and not caller.local:
            self.refuse(ErrorReply("28000", "the gateway takes connections with TLS only"))
            return
        method = worker.access.method(caller.origin, caller.database, caller.user)
        if caller.database in CONSOLES:
            self._to_console(caller, method)
        elif (refusal := worker.refusal(caller.database)) is not None:
            self.refuse(refusal)
        elif method is Method.PASSTHROUGH:
            hides = worker.access.server_tls is not None
            self._enter(caller, HidesBinding(worker.binding(caller.tls)) if hides else None)
        else:
            self._authenticate(caller, method)

    # -- the login at the gateway

    def _authenticate(self, caller: Caller, method: Method) -> None:
        worker, user = self._worker, caller.user
        shown = {Method.CERT: caller.certified, Method.PEER: caller.unix_user}.get(method, user)
        if shown != user:
            worker.log.info("login_refused", user=user, reason=f"{method} says {shown}")
            self.refuse(failure(user, method))
        elif user in worker.access.users or not worker.settings.auth_user or method is Method.REJECT:
            self._challenge(caller, method, worker.access.users.get(user))
        else:
            self._waiting = worker.spawn("auth_query", self._look_up(caller, method))

    async def _look_up(self, caller: Caller, method: Method) -> None:
        secret = await self._worker.look_up(caller.user)
        self._waiting = None
        if self._transport is None:
            return
        try:
            self._challenge(caller, method, secret)
        except ProtocolViolationError as violation:
            self.refuse(ErrorReply("08P01", str(violation)))

    def _challenge(self, caller: Caller, method: Method, secret: Secret | None) -> None:
        worker = self._worker
        binding = worker.binding(caller.tls)
        self._login = Login(caller.user, method, secret, worker.access.chance(caller.user), binding=binding)
        self._carry_out(caller, self._login.begin())
        if self._login is not None:
            self._responses(self._login)

    def _responses(self, login: Login) -> None:
        while self._login is login and self._caller is not None and len(self._buffer) >= HEADER_SIZE:
            kind, length = HEADER.unpack_from(self._buffer)
            if kind != _RESPONSE or not LENGTH_SIZE <= length <= AUTHENTICATION_LIMIT:
                raise ProtocolViolationError("expected a password response")
            if length + 1 > len(self._buffer):
                return
            message, self._buffer = self._buffer[: length + 1], self._buffer[length + 1 :]
            self._carry_out(self._caller, login.receive(message))

    def _carry_out(self, caller: Caller, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Send():
                    if self._transport is not None:
                        self._transport.write(step.data)
                case Accepted():
                    self._login = None
                    self._accepted(caller, step.credentials)
                case Refused():
                    self._login = None
                    self._worker.log.info("login_refused", user=caller.user, reason=step.reason)
                    self.refuse(step.error)

    def _accepted(self, caller: Caller, credentials: Credentials) -> None:
        if self._buffer[:1] == b"p":
            # Nobody sends a second response; here it could pose as the answer to the server.
            raise ProtocolViolationError("more responses than the login asked for")
        if caller.database in CONSOLES:
            self._open_console(caller)
            return
        known = self._worker.access.users.get(caller.user)
        if credentials is None and isinstance(known, Password | MD5Hash):
            credentials = known
        nonce = self._worker.access.chance(caller.user).nonce
        self._enter(caller, LogsIn(UpstreamLogin(caller.user, credentials, nonce)))

    # -- the console

    def _to_console(self, caller: Caller, method: Method) -> None:
        worker = self._worker
        if self._rights(caller) is None:
            worker.log.info("console_refused", user=caller.user, address=caller.address)
            hint = "The operator lists users in admin_users or stats_users."
            self.refuse(ErrorReply("42501", f'user "{caller.user}" may not enter the console', hint=hint))
        elif _owns(caller):
            self._open_console(caller)
        elif method is not Method.PASSTHROUGH:
            self._authenticate(caller, method)
        elif caller.user in worker.access.users:
            self._authenticate(caller, Method.SCRAM)
        else:
            word = ServersWord(
                worker, caller.user, worker.binding(caller.tls), lambda _: self._open_console(caller)
            )
            self._leave_to(word)

    def _open_console(self, caller: Caller) -> None:
        rights = self._rights(caller)
        if rights is not None:
            visitor = caller.visitor(self._worker.next_id(), self._connected)
            self._leave_to(ConsoleConnection(self._worker, visitor, rights))

    def _rights(self, caller: Caller) -> Rights | None:
        access = self._worker.access
        if caller.user in access.admins or _owns(caller):
            return Rights.ADMIN
        return Rights.STATS if caller.user in access.statisticians else None

    # -- handing over

    def _enter(self, caller: Caller, part: Part | None) -> None:
        """Goes on as a session, as soon as its database is not paused."""
        if self._worker.sessions.is_paused(caller.database):
            if self._timer is not None:
                # The client is known; how long a pause lasts is the operator's matter.
                self._timer.cancel()
            self._waiting = self._worker.spawn("paused", self._wait_for_resume(caller, part))
        elif self._startup is not None:
            visitor = caller.visitor(self._worker.next_id(), self._connected)
            self._hand_over(self._startup.packet, part, visitor)

    async def _wait_for_resume(self, caller: Caller, part: Part | None) -> None:
        await self._worker.sessions.resumed(caller.database)
        self._waiting = None
        self._enter(caller, part)

    def _hand_over(self, packet: bytes, part: Part | None, visitor: Visitor | None) -> None:
        if self._transport is None:
            return
        link = Link(self._worker, part)
        rest, self._buffer = self._buffer, b""
        if visitor is not None:
            self._worker.introduced(link, visitor)
        self._leave_to(link)
        link.data_received(packet + rest)

    def _leave_to(self, protocol: asyncio.Protocol) -> None:
        if self._transport is not None:
            self._leave()
            self._transport.set_protocol(protocol)
            protocol.connection_made(self._transport)

    # -- ends

    def _timed_out(self) -> None:
        self.refuse(ErrorReply("08P01", "canceling authentication due to timeout"))

    def shut_down(self) -> None:
        """The gateway ends."""
        self.refuse(ErrorReply("57P01", "terminating connection because the gateway shuts down"))

    def refuse(self, error: ErrorReply) -> None:
        """Ends the connection with an error."""
        if self._waiting is not None:
            self._waiting.cancel()
        if self._transport is not None:
            self._transport.write(codec.encode_error(error, "utf-8", severity=b"FATAL"))
            self._transport.close()
            self._transport = None
        self._leave()


def _owns(caller: Caller) -> bool:
    """Whether the gateway's own Unix user asks, under one of the names kept for it."""
    return caller.user in OWNERS and caller.local and caller.is_owner
