"""Where the two ends of a connection are: names of sockets, and whether they are on this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from typing import Any, cast

from proxy.console.reports import ServerReport
from proxy.net import tls


def address(found: Any) -> tuple[str, int]:
    """Host and port of a socket's name; `unix` and 0 where it has none."""
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) else ("unix", 0)


def server_side(transport: asyncio.Transport, key: bytes | None = None) -> ServerReport:
    """A connection to the server; `key` is the body of its BackendKeyData."""
    there, here = address(transport.get_extra_info("peername")), address(transport.get_extra_info("sockname"))
    secured = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
    pid = int.from_bytes(key[:4], "big", signed=True) if key else 0
    return ServerReport(*there, *here, tls.describe(secured), pid)


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
