"""The listening sockets of a worker, and TLS with clients.

Owns a connection from `accept` to the first byte that is not about encryption. Where TLS is off, connections go
to `ClientStartup` as they are. Where it is on, the few bytes before the handshake are read from the bare socket, never
one more than needed: a byte that came too early can then be told from one that TLS protects (CVE-2021-23214),
and direct TLS needs no bytes put back.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

from engine.types import ErrorReply
from proxy.net.addresses import is_loopback
from proxy.net.client.startup import UNENCRYPTED_DATA, ClientStartup
from proxy.net.login_service import TOO_MANY_LOGINS
from proxy.net.ports import Admin, ClientContext
from proxy.net.tls import ALPN
from proxy.protocol import codec

_TLS_HANDSHAKE = 0x16
"""The first byte of a TLS record that opens a connection."""

_PACKET_SIZE = 8
_SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")
_GSS_REQUEST = (8).to_bytes(4, "big") + (80877104).to_bytes(4, "big")
_READ_SIZE = 1 << 16

_RETRY_SECONDS = 1.0
"""Seconds before the next try where the process is out of file descriptors."""


class Listener:
    """Lets clients of one worker in, until it is closed."""

    def __init__(self, context: ClientContext, admin: Admin, sockets: list[socket.socket]) -> None:
        self._context = context
        self._admin = admin
        self._sockets = sockets
        ports = (one.getsockname()[1] for one in sockets if one.family != socket.AF_UNIX)
        self.port = int(next(ports, 0))
        """The TCP port, 0 where there is none."""
        names = [str(one.getsockname()[0]) for one in sockets if one.family != socket.AF_UNIX]
        self.exposed = tuple(sorted({name for name in names if not is_loopback(name)}))
        """The addresses on which others than this machine reach it."""
        self._servers: list[asyncio.Server] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Accepts clients from now on."""
        loop = asyncio.get_running_loop()
        backlog = self._context.settings.listen_backlog
        for one in self._sockets:
            if one.family == socket.AF_UNIX:
                server = await loop.create_unix_server(self._startup, sock=one, backlog=backlog)
                self._servers.append(server)
            elif self._context.access.client_tls is None:
                server = await loop.create_server(self._startup, sock=one, backlog=backlog)
                self._servers.append(server)
            else:
                self._tasks.append(self._context.spawn("accept", self._accept(one)))

    def close(self) -> None:
        """Accepts nobody any more. What the system has queued stays for whoever else holds the socket."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        for one in self._sockets:
            one.close()

    def _startup(self, head: bytes = b"") -> ClientStartup:
        return ClientStartup(self._context, self._admin, head)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                one, _ = await loop.sock_accept(listening)
            except OSError as problem:
                self._context.log.warning("accept_failed", error=str(problem))
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._context.spawn("admit", self._admit(one))

    async def _admit(self, one: socket.socket) -> None:
        one.setblocking(False)  # noqa: FBT003 - the socket module's signature
        try:
            async with asyncio.timeout(self._context.settings.client_login_timeout or None):
                head, secure = await self._opening(one)
                await self._connect(one, head, secure=secure)
        except (OSError, EOFError) as problem:
            self._context.log.debug("client_left_early", error=str(problem))
            _hang_up(one)
        except BaseException:
            _hang_up(one)
            raise
        finally:
            self._context.logins.leave(one)

    async def _opening(self, one: socket.socket) -> tuple[bytes, bool]:
        """The first bytes that are not about encryption, and whether a TLS handshake comes next.

        Raises:
            EOFError: The client left, or stuffed bytes, or there is no place for it.
        """
        loop = asyncio.get_running_loop()
        for _ in range(2):
            head = await _first_byte(one)
            if head[0] == _TLS_HANDSHAKE:
                await self._find_place(one)
                return b"", True
            head = await _exactly(one, _PACKET_SIZE)
            if head not in (_SSL_REQUEST, _GSS_REQUEST):
                return head + _read_available(one), False
            if _read_available(one):
                await loop.sock_sendall(one, codec.encode_error(UNENCRYPTED_DATA, "utf-8", severity=b"FATAL"))
                raise EOFError("bytes before the handshake")
            if head == _SSL_REQUEST:
                await self._find_place(one)
                await loop.sock_sendall(one, b"S")
                return b"S", True
            await loop.sock_sendall(one, b"N")
        return b"", False

    async def _find_place(self, one: socket.socket) -> None:
        """A place for the handshake, which is dear."""
        if not self._context.logins.admit(one):
            reply = codec.encode_error(TOO_MANY_LOGINS, "utf-8", severity=b"FATAL")
            await asyncio.get_running_loop().sock_sendall(one, reply)
            raise EOFError("too many clients are logging in")

    async def _connect(self, one: socket.socket, head: bytes, *, secure: bool) -> None:
        loop = asyncio.get_running_loop()
        if not secure:
            await loop.connect_accepted_socket(lambda: self._startup(head), one)
            return
        startup = self._startup()
        context = self._context.access.client_tls
        transport, _ = await loop.connect_accepted_socket(lambda: startup, one, ssl=context)
        tls = transport.get_extra_info("ssl_object")
        if not head and not _agreed_on_protocol(tls):
            # Without ALPN another protocol's client could be led here (PostgreSQL docs, 54.2.11).
            startup.refuse(ErrorReply("08P01", "received direct SSL connection request without ALPN"))


def _agreed_on_protocol(tls: ssl.SSLObject | None) -> bool:
    return tls is not None and tls.selected_alpn_protocol() == ALPN


def _hang_up(one: socket.socket) -> None:
    """Ends the connection, also where a handshake that was given up still holds it."""
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


async def _first_byte(one: socket.socket) -> bytes:
    """Waits for the first byte and leaves it where it is."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    descriptor = one.fileno()
    loop.add_reader(descriptor, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    head = one.recv(1, socket.MSG_PEEK)
    if not head:
        raise EOFError("the client closed the connection")
    return head


async def _exactly(one: socket.socket, size: int) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < size:
        more = await loop.sock_recv(one, size - len(data))
        if not more:
            raise EOFError("the client closed the connection")
        data += more
    return data


def _read_available(one: socket.socket) -> bytes:
    """What more has arrived already. Read even to be thrown away: unread bytes would make the system drop our error."""
    try:
        return one.recv(_READ_SIZE)
    except BlockingIOError:
        return b""
