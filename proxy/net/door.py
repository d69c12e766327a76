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
from proxy.net.authentication import Authentication
from proxy.net.caller import Caller
from proxy.net.console import ConsoleConnection
from proxy.net.console_login import ServersWord
from proxy.net.handshake import Part
from proxy.net.link import Link
from proxy.net.logins import CROWDED
from proxy.net.upstream import without_delay
from proxy.protocol import codec
from proxy.protocol.auth.hba import Method
from proxy.protocol.auth.secrets import Credentials
from proxy.protocol.framing import AUTHENTICATION_LIMIT, ProtocolViolationError, startup_length
from proxy.protocol.messages import CancelRequest, EncryptionRequest, Startup

if TYPE_CHECKING:
    from proxy.net.worker import Worker

_MOST_REQUESTS = 2
"""GSSENCRequest and SSLRequest, once each."""

_NOBODY = ErrorReply("28000", "no PostgreSQL user name specified in startup packet")

_UNPROVED = ErrorReply(
    "28000",
    "the console lets no administrator in who has not proved who it is",
    "Nobody asked for a password or a certificate: neither the gateway nor the server.",
    "The operator may give the role a secret in auth_file and a method other than trust in auth_type or auth_hba_file;"
    " the gateway's own Unix user comes in as pgparley on the Unix socket.",
)

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
        self._method: Method = Method.REJECT
        self._authentication: Authentication | None = None
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
        self._stop_waiting()
        self._transport = None

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        if self._authentication is not None:
            self._authentication.close()

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        try:
            if self._authentication is not None:
                self._authentication.receive(data)
            else:
                self._buffer += data
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
        if len(self._buffer) > AUTHENTICATION_LIMIT:
            raise ProtocolViolationError("more data than a login needs")

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._worker.logins.leave(self)
        self._worker.left(self)

    # -- the first packet

    def _first(self, packet: bytes, transport: asyncio.Transport) -> None:
        first = codec.decode_first(packet)
        match first:
            case EncryptionRequest():
                self._encryption_asked(transport)
            case CancelRequest():
                # As in PostgreSQL, the key is all that it takes: rules about TLS and hosts are about sessions.
                self._startup = Startup(packet, ())
                # Whoever asks may leave: the request stands.
                self._worker.spawn("cancel", self._cancel(first))
            case Startup():
                self._startup = first
                if (refusal := self._unfit(first)) is not None:
                    self.refuse(refusal)
                else:
                    self._caller = Caller(transport, first)
                    self._greet(self._caller)

    def _unfit(self, startup: Startup) -> ErrorReply | None:
        """Why this packet begins no session, whoever sent it."""
        major, minor = startup.version
        if major != codec.MAJOR_VERSION:
            supported = f"{codec.MAJOR_VERSION}.0 to {codec.MAJOR_VERSION}.{codec.NEWEST_MINOR}"
            text = f"unsupported frontend protocol {major}.{minor}: the gateway supports {supported}"
            return ErrorReply("0A000", text)
        if not startup.parameter("user"):
            return _NOBODY
        return None if self._worker.logins.admit(self) else CROWDED

    async def _cancel(self, request: CancelRequest) -> None:
        try:
            async with asyncio.timeout(self._worker.settings.server_connect_timeout):
                await self._worker.cancel(request)
        except OSError as error:
            self._worker.log.warning("cancel_not_sent", error=str(error) or type(error).__name__)
        finally:
            # libpq waits for this: the request has then been carried out.
            if self._transport is not None:
                self._transport.close()

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
        self._method = worker.access.method(caller.origin, caller.database, caller.user)
        if caller.database in CONSOLES:
            self._to_console(caller)
        elif (refusal := worker.refusal(caller.database)) is not None:
            self.refuse(refusal)
        elif self._method is Method.PASSTHROUGH:
            self._enter(caller, worker.logins.relays(worker.binding(caller.tls)))
        else:
            self._authenticate(caller)

    # -- the login at the gateway

    def _authenticate(self, caller: Caller) -> None:
        worker = self._worker
        head, self._buffer = self._buffer, b""
        self._authentication = Authentication(
            self,
            caller,
            self._method,
            worker.logins,
            head=head,
            binding=worker.binding(caller.tls),
            spawn=worker.spawn,
            log=worker.log,
        )
        self._authentication.begin()

    def write(self, data: bytes) -> None:
        """As `Host.write`."""
        if self._transport is not None:
            self._transport.write(data)

    def accepted(self, credentials: Credentials, rest: bytes) -> None:
        """As `Host.accepted`."""
        caller = self._caller
        if caller is None:
            raise AssertionError("nobody is logging in")
        self._authentication = None
        self._buffer = rest
        if caller.database in CONSOLES:
            self._open_console(caller, proved=self._method is not Method.TRUST)
        else:
            self._enter(caller, self._worker.logins.logs_in(caller.user, credentials))

    # -- the console

    def _to_console(self, caller: Caller) -> None:
        worker = self._worker
        self.write(codec.encode_negotiation(caller.startup))
        if _owns(caller):
            self._open_console(caller, proved=True)
        elif self._method is not Method.PASSTHROUGH:
            self._authenticate(caller)
        elif caller.user in worker.access.users:
            self._method = Method.SCRAM
            self._authenticate(caller)
        else:
            binding = worker.binding(caller.tls)
            self._leave_to(
                ServersWord(
                    worker, caller.user, binding, lambda proved: self._open_console(caller, proved=proved)
                )
            )

    def _open_console(self, caller: Caller, *, proved: bool) -> None:
        """Lets a client in that is who it says, or that nobody has asked (`proved` is false then)."""
        worker, rights = self._worker, self._rights(caller)
        if rights is None:
            hint = "The operator lists users in admin_users or stats_users."
            problem = ErrorReply("42501", f'user "{caller.user}" may not enter the console', hint=hint)
        elif rights is Rights.ADMIN and not proved:
            problem = _UNPROVED
        else:
            visitor = caller.visitor(worker.next_id(), self._connected)
            self._leave_to(ConsoleConnection(worker, visitor, rights))
            return
        worker.log.info("console_refused", user=caller.user, address=caller.address, reason=problem.message)
        self.refuse(problem)

    def _rights(self, caller: Caller) -> Rights | None:
        access = self._worker.access
        if caller.user in access.admins or _owns(caller):
            return Rights.ADMIN
        return Rights.STATS if caller.user in access.statisticians else None

    # -- handing over

    def _enter(self, caller: Caller, part: Part | None) -> None:
        """Goes on as a session, as soon as its database is not paused."""
        if self._worker.sessions.is_paused(caller.database):
            # The client is known; how long a pause lasts is the operator's matter.
            self._worker.logins.leave(self)
            if self._timer is not None:
                self._timer.cancel()
            self._waiting = self._worker.spawn("paused", self._wait_for_resume(caller, part))
        elif self._startup is not None:
            visitor = caller.visitor(self._worker.next_id(), self._connected)
            self._hand_over(self._startup.packet, part, visitor)

    async def _wait_for_resume(self, caller: Caller, part: Part | None) -> None:
        await self._worker.sessions.resumed(caller.database)
        self._waiting = None
        self._enter(caller, part)

    def _hand_over(self, packet: bytes, part: Part | None, visitor: Visitor) -> None:
        if self._transport is None:
            return
        link = Link(self._worker, part)
        rest, self._buffer = self._buffer, b""
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
        self._stop_waiting()
        if self._transport is not None:
            self._transport.write(codec.encode_error(error, "utf-8", severity=b"FATAL"))
            self._transport.close()
            self._transport = None
        self._leave()


def _owns(caller: Caller) -> bool:
    """Whether the gateway's own Unix user asks, under one of the names kept for it."""
    return caller.user in OWNERS and caller.local and caller.is_owner
