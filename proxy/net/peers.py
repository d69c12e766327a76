"""Who is at the two ends of a connection: names of sockets, processes and users (SO_PEERCRED), what a client claims."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import pwd
import socket
import ssl
import struct
import sys
from typing import Any, cast

from proxy.console.reports import ClientReport, ServerReport
from proxy.net import tls
from proxy.protocol.auth.hba import ClientOrigin
from proxy.protocol.codec import Startup

_OWNER_USERS = frozenset({"pgparley", "pgbouncer"})
"""Console users that the gateway's own Unix user may log in as without a secret."""


def address(found: Any) -> tuple[str, int]:
    """Host and port of a socket's name; `unix` and 0 where it has none."""
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) else ("unix", 0)


def server_side(transport: asyncio.Transport, connected: float, key: bytes | None = None) -> ServerReport:
    """A connection to the server; `key` is the body of its BackendKeyData."""
    there, here = address(transport.get_extra_info("peername")), address(transport.get_extra_info("sockname"))
    secured = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
    pid = int.from_bytes(key[:4], "big", signed=True) if key else 0
    return ServerReport(*there, *here, tls.describe(secured), connected, pid)


def is_loopback(host: str) -> bool:
    """Whether `host` is an address of this machine that no network leads to; names are none."""
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def is_local(transport: asyncio.BaseTransport) -> bool:
    """Whether the other end is on this machine: behind a Unix socket, or a loopback address."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family == socket.AF_UNIX:
        return True
    name = transport.get_extra_info("peername")
    return isinstance(name, tuple) and is_loopback(str(name[0]))


_CREDENTIALS = struct.Struct("3i")
"""struct ucred (unix(7)): process, user, group."""


def peer_credentials(sock: Any) -> tuple[int, int] | None:
    """(process id, user id) of the other end; None where the system does not report it."""
    if sys.platform != "linux" or sock is None or sock.family != socket.AF_UNIX:
        return None
    process, user, _ = _CREDENTIALS.unpack(
        sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    return process, user


class ClientInfo:
    """One client; `user` and `database` are claims until it is authenticated."""

    def __init__(self, transport: asyncio.Transport, startup: Startup) -> None:
        self._transport = transport
        self.startup = startup
        self.user = startup.parameter("user") or ""
        self.database = startup.parameter("database") or self.user
        self.tls = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
        self.address, self.port = address(transport.get_extra_info("peername"))
        self.unix_peer = peer_credentials(transport.get_extra_info("socket"))

    @property
    def local(self) -> bool:
        """Whether it is connected over a Unix socket."""
        return self.unix_peer is not None

    @property
    def origin(self) -> ClientOrigin:
        """Where it comes from."""
        return ClientOrigin(None if self.local else self.address, self.tls is not None)

    @property
    def unix_user(self) -> str | None:
        """The Unix user at the other end of the socket; None on TCP, or where the user has no name."""
        try:
            return None if self.unix_peer is None else pwd.getpwuid(self.unix_peer[1]).pw_name
        except KeyError:
            return None

    @property
    def is_owner(self) -> bool:
        """Whether it is the gateway's own Unix user, under one of the names reserved for that."""
        own = self.unix_peer is not None and self.unix_peer[1] == os.getuid()
        return own and self.user in _OWNER_USERS

    def report(self, number: int, connected: float) -> ClientReport:
        """The client as the console shows it. `connected`: seconds since the epoch."""
        here = address(self._transport.get_extra_info("sockname"))
        return ClientReport(
            id=number,
            user=self.user,
            database=self.database,
            application_name=self.startup.parameter("application_name") or "",
            replication=_replication(self.startup.parameter("replication")),
            address=self.address,
            port=self.port,
            local_address=here[0],
            local_port=here[1],
            tls=tls.describe(self.tls),
            connected=connected,
            peer_pid=0 if self.unix_peer is None else self.unix_peer[0],
        )


def _replication(value: str | None) -> str:
    """The column of that name: PostgreSQL takes `database` or a boolean."""
    if value is None or value.lower() in ("", "0", "no", "off", "false", "n", "f"):
        return "none"
    return "logical" if value.lower() == "database" else "physical"
