"""Who is at the other end of a socket, as the kernel says."""

from __future__ import annotations

import ipaddress
import os
import pwd
import socket
import struct
import sys
from asyncio import BaseTransport
from typing import Any

_CREDENTIALS = struct.Struct("3i")
"""struct ucred (unix(7)): process, user, group."""


def peer_of(sock: Any) -> tuple[int, int] | None:
    """(process id, user id) of the other end; None where the system does not tell."""
    if sys.platform != "linux" or sock is None or sock.family != socket.AF_UNIX:
        return None
    process, user, _ = _CREDENTIALS.unpack(
        sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    return process, user


def user_name(uid: int) -> str | None:
    """The name of a user of this machine."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def is_ours(uid: int) -> bool:
    """Whether this is the user that the gateway runs as."""
    return uid == os.getuid()


def is_loopback(host: str) -> bool:
    """Whether `host` is an address of this machine that no network leads to; names are none."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def is_here(transport: BaseTransport) -> bool:
    """Whether the other end is on this machine: behind a Unix socket, or a loopback address."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family == socket.AF_UNIX:
        return True
    name = transport.get_extra_info("peername")
    return isinstance(name, tuple) and is_loopback(str(name[0]))
