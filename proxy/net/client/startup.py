"""The startup of a client: its first packets, its login, and the choice between session and console."""

from __future__ import annotations

import asyncio
import time
from typing import cast

from engine.values.errors import for_log
from engine.values.messages import ErrorReply
from proxy.console.grammar import Rights
from proxy.net.access import CONSOLE_DATABASES
from proxy.net.client.authentication import Authentication
from proxy.net.console.console_connection import ConsoleConnection
from proxy.net.console.upstream_auth import UpstreamAuth
from proxy.net.login_service import LOGIN_TIMEOUT, TOO_MANY_LOGINS
from proxy.net.peers import ClientInfo
from proxy.net.session.session_connection import SessionConnection
from proxy.net.upstream.dialer import without_delay
from proxy.net.upstream.login_phase import LoginHandler
from proxy.net.worker.context import GatewayContext
from proxy.protocol import codec
from proxy.protocol.auth.hba import Method
from proxy.protocol.auth.secrets import Credentials
from proxy.protocol.codec import CancelRequest, EncryptionRequest, Startup
from proxy.protocol.framing import AUTHENTICATION_LIMIT, ProtocolViolationError, startup_length
from proxy.protocol.interruptions import SHUTTING_DOWN

_MAX_ENCRYPTION_REQUESTS = 2
"""GSSENCRequest and SSLRequest, once each."""

_NO_USER = ErrorReply("28000", "no PostgreSQL user name specified in startup packet")

_UNAUTHENTICATED_ADMIN = ErrorReply(
    "28000",
    "the console lets no administrator in who has not proved who it is",
    "Nobody asked for a password or a certificate: neither the gateway nor the server.",
    "The operator may give the role a secret in auth_file and a method other than trust in auth_type or auth_hba_file;"
    " the gateway's own Unix user comes in as pgparley on the Unix socket.",
)

UNENCRYPTED_DATA = ErrorReply(
    "08P01",
    "received unencrypted data after SSL request",
    "This is either a bug in the client or somebody in the middle.",
)


class ClientStartup(asyncio.Protocol):
    """One client before its session. `head`: bytes that have been read from it already."""

    def __init__(self, context: GatewayContext, head: bytes = b"") -> None:
        self._context = context
        self._buffer = head
        self._requests = 0
        self._transport: asyncio.Transport | None = None
        self._startup: Startup | None = None
        self._client: ClientInfo | None = None
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
        self._context.pending_clients.add(self)
        seconds = self._context.settings.client_login_timeout
        if seconds > 0:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.refuse, LOGIN_TIMEOUT)
        if self._buffer:
            self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone before it was logged in."""
        self._release()
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
            self._first_packet(packet, self._transport)
        if len(self._buffer) > AUTHENTICATION_LIMIT:
            raise ProtocolViolationError("more data than a login needs")

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._context.login_service.release(self)
        self._context.pending_clients.discard(self)

    # -- the first packet

    def _first_packet(self, packet: bytes, transport: asyncio.Transport) -> None:
        first = codec.decode_first(packet)
        match first:
            case EncryptionRequest():
                self._encryption_asked(transport)
            case CancelRequest():
                # As in PostgreSQL, the key is all that it takes: rules about TLS and hosts are about sessions.
                self._startup = Startup(packet, ())
                # A task of the worker: the client may disconnect, the request is carried out all the same.
                self._context.spawn("cancel", self._cancel(first))
            case Startup():
                self._startup = first
                if (refusal := self._startup_refusal(first)) is not None:
                    self.refuse(refusal)
                else:
                    self._client = ClientInfo(transport, first)
                    self._route(self._client)

    def _startup_refusal(self, startup: Startup) -> ErrorReply | None:
        major, minor = startup.version
        if major != codec.MAJOR_VERSION:
            supported = f"{codec.MAJOR_VERSION}.0 to {codec.MAJOR_VERSION}.{codec.NEWEST_MINOR}"
            text = f"unsupported frontend protocol {major}.{minor}: the gateway supports {supported}"
            return ErrorReply("0A000", text)
        if not startup.parameter("user"):
            return _NO_USER
        return None if self._context.login_service.admit(self) else TOO_MANY_LOGINS

    async def _cancel(self, request: CancelRequest) -> None:
        try:
            async with asyncio.timeout(self._context.settings.server_connect_timeout):
                await self._context.keys.cancel(request)
        except OSError as error:
            self._context.log.warning("cancel_not_sent", error=for_log(error))
        finally:
            # libpq waits for this: the request has then been carried out.
            if self._transport is not None:
                self._transport.close()

    def _encryption_asked(self, transport: asyncio.Transport) -> None:
        """An SSLRequest or GSSENCRequest where TLS is off or established already: it is declined, or an error."""
        self._requests += 1
        if self._buffer:
            self.refuse(UNENCRYPTED_DATA)
        elif transport.get_extra_info("ssl_object") is not None or self._requests > _MAX_ENCRYPTION_REQUESTS:
            raise ProtocolViolationError("encryption was asked for twice")
        else:
            transport.write(b"N")

    def _route(self, client: ClientInfo) -> None:
        context = self._context
        if context.settings.client_tls_sslmode.insists and client.tls is None and not client.local:
            self.refuse(ErrorReply("28000", "the gateway takes connections with TLS only"))
            return
        self._method = context.access.method(client.origin, client.database, client.user)
        if client.database in CONSOLE_DATABASES:
            self._enter_console(client)
        elif (refusal := context.refusal(client.database)) is not None:
            self.refuse(refusal)
        elif self._method is Method.PASSTHROUGH:
            self._enter_session(client, context.login_service.relayed_login(context.binding(client.tls)))
        else:
            self._authenticate(client)

    # -- the login at the gateway

    def _authenticate(self, client: ClientInfo) -> None:
        head, self._buffer = self._buffer, b""
        self._authentication = Authentication(self, self._context, client, self._method, head)
        self._authentication.begin()

    def write(self, data: bytes) -> None:
        """As `AuthenticationOwner.write`."""
        if self._transport is not None:
            self._transport.write(data)

    def accepted(self, credentials: Credentials, rest: bytes) -> None:
        """As `AuthenticationOwner.accepted`."""
        client = self._client
        if client is None:
            raise AssertionError("nobody is logging in")
        self._authentication = None
        self._buffer = rest
        if client.database in CONSOLE_DATABASES:
            self._open_console(client, proved=self._method is not Method.TRUST)
        else:
            self._enter_session(client, self._context.login_service.gateway_login(client.user, credentials))

    # -- the console

    def _enter_console(self, client: ClientInfo) -> None:
        context = self._context
        self.write(codec.encode_negotiation(client.startup))
        if client.is_owner:
            self._open_console(client, proved=True)
        elif self._method is not Method.PASSTHROUGH:
            self._authenticate(client)
        elif client.user in context.access.users:
            self._method = Method.SCRAM
            self._authenticate(client)
        else:
            binding = context.binding(client.tls)
            self._hand_to(
                UpstreamAuth(
                    context, client.user, binding, lambda proved: self._open_console(client, proved=proved)
                )
            )

    def _open_console(self, client: ClientInfo, *, proved: bool) -> None:
        """Opens the console to a client with rights. `proved`: whether it was authenticated, or let in by `trust`."""
        context, rights = self._context, self._rights(client)
        if rights is None:
            hint = "The operator lists users in admin_users or stats_users."
            problem = ErrorReply("42501", f'user "{client.user}" may not enter the console', hint=hint)
        elif rights is Rights.ADMIN and not proved:
            problem = _UNAUTHENTICATED_ADMIN
        else:
            client_report = client.report(context.next_id(), self._connected)
            self._hand_to(ConsoleConnection(context, client_report, rights))
            return
        context.log.info("console_refused", user=client.user, address=client.address, reason=problem.message)
        self.refuse(problem)

    def _rights(self, client: ClientInfo) -> Rights | None:
        access = self._context.access
        if client.user in access.admins or client.is_owner:
            return Rights.ADMIN
        return Rights.STATS if client.user in access.statisticians else None

    # -- handing over

    def _enter_session(self, client: ClientInfo, login_handler: LoginHandler | None) -> None:
        """Becomes a session, as soon as its database is not paused."""
        if self._context.sessions.is_paused(client.database):
            # The client is authenticated; the operator decides how long a pause lasts.
            self._context.login_service.release(self)
            if self._timer is not None:
                self._timer.cancel()
            self._waiting = self._context.spawn("paused", self._wait_for_resume(client, login_handler))
        elif self._startup is not None and self._transport is not None:
            client_report = client.report(self._context.next_id(), self._connected)
            session = SessionConnection(self._context, client_report, login_handler)
            rest, self._buffer = self._buffer, b""
            self._hand_to(session)
            session.data_received(self._startup.packet + rest)

    async def _wait_for_resume(self, client: ClientInfo, login_handler: LoginHandler | None) -> None:
        await self._context.sessions.resumed(client.database)
        self._waiting = None
        self._enter_session(client, login_handler)

    def _hand_to(self, protocol: asyncio.Protocol) -> None:
        if self._transport is not None:
            self._release()
            self._transport.set_protocol(protocol)
            protocol.connection_made(self._transport)

    # -- ends

    def shut_down(self) -> None:
        """The gateway ends."""
        self.refuse(SHUTTING_DOWN)

    def refuse(self, error: ErrorReply) -> None:
        """Ends the connection with an error."""
        self._stop_waiting()
        if self._transport is not None:
            self._transport.write(codec.encode_fatal(error))
            self._transport.close()
            self._transport = None
        self._release()
