"""Listening sockets: bound here, so that the supervisor can hold them while workers come and go."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proxy.settings import GatewaySettings

_ANY = ("0.0.0.0", "::")  # noqa: S104 - what `*` asks for


def bind(settings: GatewaySettings) -> list[socket.socket]:
    """TCP sockets on the addresses of `settings`; port 0 becomes one port for all of them.

    Raises `OSError`, which names the address.
    """
    names = [name.strip() for name in settings.listen_addr.split(",") if name.strip()]
    bound: list[socket.socket] = []
    port = settings.listen_port
    try:
        for name in _ANY if "*" in names else names:
            for family, address in _addresses(name, port):
                sock = _listening(family, address, settings)
                bound.append(sock)
                port = port or sock.getsockname()[1]
    except OSError as problem:
        for sock in bound:
            sock.close()
        raise OSError(problem.errno, f"{problem.strerror}: {name}:{port}") from problem
    return bound


def _addresses(name: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    if name in _ANY:
        family = socket.AF_INET6 if ":" in name else socket.AF_INET
        usable = family == socket.AF_INET or socket.has_dualstack_ipv6()
        return [(family, (name, port))] if usable else []
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, (str(address[0]), port)) for family, _, _, _, address in found))


def _listening(family: int, address: tuple[str, int], settings: GatewaySettings) -> socket.socket:
    with _socket(family, settings.listen_backlog) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if settings.reuse_port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
    return sock


def bind_unix(settings: GatewaySettings, port: int) -> socket.socket:
    """The Unix socket in `unix_socket_dir`. A socket that a dead process left behind is replaced. Raises `OSError`."""
    path = Path(settings.unix_socket_dir) / f".s.PGSQL.{port}"
    if path.is_socket() and not is_alive(path):
        path.unlink()
    with _socket(socket.AF_UNIX, settings.listen_backlog) as sock:
        sock.bind(str(path))
        path.chmod(0o777)
    return sock


@contextmanager
def _socket(family: int, backlog: int) -> Iterator[socket.socket]:
    """A socket that the block binds; it listens after the block, and is closed where that raises `OSError`."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        yield sock
        sock.listen(backlog)
        sock.setblocking(False)  # noqa: FBT003 - the socket module's signature
    except OSError:
        sock.close()
        raise


class Refusing:
    """Whoever connects gets `reply` and the end of the connection."""

    def __init__(self, reply: bytes) -> None:
        self._reply = reply
        self._watched: frozenset[socket.socket] = frozenset()

    def only(self, listening: Iterable[socket.socket]) -> None:
        """From now on at these sockets."""
        loop, wanted = asyncio.get_running_loop(), frozenset(listening)
        for sock in self._watched - wanted:
            loop.remove_reader(sock)
        for sock in wanted - self._watched:
            loop.add_reader(sock, _refuse, sock, self._reply)
        self._watched = wanted


def _refuse(listening: socket.socket, reply: bytes) -> None:
    with suppress(OSError):
        client, _ = listening.accept()
        with client:
            client.setblocking(False)  # noqa: FBT003 - the socket module's signature
            client.send(reply)
            client.shutdown(socket.SHUT_WR)
            # Unread bytes would make the system discard the reply.
            client.recv(_READ_SIZE)


_READ_SIZE = 1 << 16


def is_alive(path: Path) -> bool:
    """Whether a process listens at the Unix socket `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
