"""The listening sockets of a worker, and TLS with clients: from `accept` to the first byte not about encryption.

With TLS the bytes before the handshake are read from the bare socket, never one more than needed: a byte that came too
early can then be told from one that TLS protects (CVE-2021-23214), and direct TLS needs none put back.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket

from engine.values.errors import for_log
from engine.values.messages import ErrorReply
from proxy.net.client.startup import UNENCRYPTED_DATA, ClientStartup
from proxy.net.login_service import TOO_MANY_LOGINS
from proxy.net.peers import is_loopback
from proxy.net.tls import ALPN
from proxy.net.worker.context import GatewayContext
from proxy.protocol import codec

_TLS_HANDSHAKE = 0x16
"""The first byte of a TLS record that opens a connection."""

_READ_SIZE = 1 << 16

_RETRY_SECONDS = 1.0
"""Seconds before the next try where the process is out of file descriptors."""


class Listener:
    """Accepts clients of one worker, until it is closed."""

    def __init__(self, context: GatewayContext, sockets: list[socket.socket]) -> None:
        self._context = context
        self._sockets = sockets
        ports = (sock.getsockname()[1] for sock in sockets if sock.family != socket.AF_UNIX)
        self.port = int(next(ports, 0))
        """The TCP port, 0 where there is none."""
        names = [str(sock.getsockname()[0]) for sock in sockets if sock.family != socket.AF_UNIX]
        self.exposed = tuple(sorted({name for name in names if not is_loopback(name)}))
        """The addresses that other machines can reach."""
        self._servers: list[asyncio.Server] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Accepts clients from now on."""
        loop = asyncio.get_running_loop()
        backlog = self._context.settings.listen_backlog
        for sock in self._sockets:
            if sock.family == socket.AF_UNIX:
                server = await loop.create_unix_server(self._startup, sock=sock, backlog=backlog)
                self._servers.append(server)
            elif self._context.access.client_tls is None:
                server = await loop.create_server(self._startup, sock=sock, backlog=backlog)
                self._servers.append(server)
            else:
                self._tasks.append(self._context.spawn("accept", self._accept(sock)))

    def close(self) -> None:
        """Stops accepting. Connections that the system has queued stay for the other processes that hold the socket."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        for sock in self._sockets:
            sock.close()

    def _startup(self, head: bytes = b"") -> ClientStartup:
        return ClientStartup(self._context, head)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, _ = await loop.sock_accept(listening)
            except OSError as problem:
                if problem.errno == errno.EINVAL:
                    # The supervisor, which stops, has shut the socket down (accept(2)).
                    return
                self._context.log.warning("accept_failed", error=for_log(problem))
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._context.spawn("admit", self._admit(sock))

    async def _admit(self, sock: socket.socket) -> None:
        sock.setblocking(False)  # noqa: FBT003 - the socket module's signature
        try:
            async with asyncio.timeout(self._context.settings.client_login_timeout or None):
                head, secure = await self._first_bytes(sock)
                await self._connect(sock, head, secure=secure)
        except (OSError, EOFError) as problem:
            self._context.log.debug("client_left_early", error=str(problem))
            _close_socket(sock)
        except BaseException:
            _close_socket(sock)
            raise
        finally:
            self._context.login_service.release(sock)

    async def _first_bytes(self, sock: socket.socket) -> tuple[bytes, bool]:
        """The first bytes that are not about encryption, and whether a TLS handshake comes next. Raises `EOFError`."""
        loop = asyncio.get_running_loop()
        for _ in range(2):
            head = await _first_byte(sock)
            if head[0] == _TLS_HANDSHAKE:
                await self._admit_login(sock)
                return b"", True
            head = await _exactly(sock, codec.ENCRYPTION_REQUEST_SIZE)
            if head not in (codec.SSL_REQUEST, codec.GSS_REQUEST):
                return head + _read_available(sock), False
            if _read_available(sock):
                await loop.sock_sendall(sock, codec.encode_fatal(UNENCRYPTED_DATA))
                raise EOFError("bytes before the handshake")
            if head == codec.SSL_REQUEST:
                await self._admit_login(sock)
                await loop.sock_sendall(sock, b"S")
                return b"S", True
            await loop.sock_sendall(sock, b"N")
        return b"", False

    async def _admit_login(self, sock: socket.socket) -> None:
        """Admits the client before the handshake, which is expensive. Raises `EOFError`."""
        if not self._context.login_service.admit(sock):
            reply = codec.encode_fatal(TOO_MANY_LOGINS)
            await asyncio.get_running_loop().sock_sendall(sock, reply)
            raise EOFError("too many clients are logging in")

    async def _connect(self, sock: socket.socket, head: bytes, *, secure: bool) -> None:
        loop = asyncio.get_running_loop()
        if not secure:
            await loop.connect_accepted_socket(lambda: self._startup(head), sock)
            return
        startup = self._startup()
        context = self._context.access.client_tls
        transport, _ = await loop.connect_accepted_socket(lambda: startup, sock, ssl=context)
        tls = transport.get_extra_info("ssl_object")
        if not head and (tls is None or tls.selected_alpn_protocol() != ALPN):
            # Without ALPN another protocol's client could be led here (PostgreSQL docs, 54.2.11).
            startup.refuse(ErrorReply("08P01", "received direct SSL connection request without ALPN"))


def _close_socket(sock: socket.socket) -> None:
    """Ends the connection, also where a handshake that was given up still holds it."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()


async def _first_byte(sock: socket.socket) -> bytes:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    descriptor = sock.fileno()
    loop.add_reader(descriptor, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    head = sock.recv(1, socket.MSG_PEEK)
    if not head:
        raise EOFError("the client closed the connection")
    return head


async def _exactly(sock: socket.socket, size: int) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < size:
        more = await loop.sock_recv(sock, size - len(data))
        if not more:
            raise EOFError("the client closed the connection")
        data += more
    return data


def _read_available(sock: socket.socket) -> bytes:
    """The bytes that have arrived. Read even to be dropped: unread bytes would make the system discard our error."""
    try:
        return sock.recv(_READ_SIZE)
    except BlockingIOError:
        return b""
