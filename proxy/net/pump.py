"""The compiled relay of plain chunks: when a session goes there, and how it comes back.

Without it (no compiler where the package was built, or no epoll) every chunk goes through `session_connection`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.protocol import scan
from proxy.protocol.replies import RelayState, Tally

if TYPE_CHECKING:
    from proxy.net._pump import Flow, Pump, RelayOwner

CLIENT, SERVER, NOBODY = 0, 1, -1
"""The side that sent a chunk; `NOBODY`: there is none."""

HANDOVER_CHUNKS = 3
"""Plain chunks of the server's in a row after which a session is worth handing over: it costs about one of them."""

MAX_PENDING_BOUNDARIES = 31
"""Boundaries without an answer with which a session may be handed over."""


@dataclass(frozen=True, slots=True)
class RelayedTraffic:
    """A tally, and the bytes received from either side."""

    tally: Tally
    received: int
    sent: int


@dataclass(frozen=True, slots=True)
class ReturnedFlow:
    """A flow that is ours again: bytes to be written, the `held` start of a message, a `chunk` to look at."""

    account: RelayedTraffic
    to_client: bytes
    to_server: bytes
    held: bytes
    side: int
    chunk: bytes


def start() -> Pump | None:
    """A pump that reports to the running loop; None where it was not built."""
    try:
        from proxy.net._pump import Pump  # noqa: PLC0415 - may not be there
    except ImportError:
        return None
    pump = Pump(scan.NO_TEXT, scan.TO_SYNC, scan.BACKEND_PLAIN)
    asyncio.get_running_loop().add_reader(pump.fileno(), _ended, pump)
    return pump


def stop(pump: Pump | None) -> None:
    """Ends its thread."""
    if pump is not None:
        asyncio.get_running_loop().remove_reader(pump.fileno())
        pump.stop()


def _ended(pump: Pump) -> None:
    for owner in pump.ended():
        owner.flow_ended()


def attach(
    pump: Pump, owner: RelayOwner, client: asyncio.Transport, server: asyncio.Transport, state: RelayState
) -> Flow | None:
    """Hands both sockets over, unless one of them has TLS, is closing or has bytes to write."""
    if len(state.pending) > MAX_PENDING_BOUNDARIES:
        return None
    for transport in (client, server):
        secured = transport.get_extra_info("ssl_object") is not None
        if secured or transport.is_closing() or transport.get_write_buffer_size():
            return None
    client.pause_reading()
    server.pause_reading()
    client_socket, server_socket = (
        transport.get_extra_info("socket").fileno() for transport in (client, server)
    )
    return pump.attach(owner, client_socket, server_socket, state.rest, state.pending)


def account(flow: Flow) -> RelayedTraffic:
    """The traffic since the last call."""
    return _account(flow.account())


def take(flow: Flow) -> ReturnedFlow:
    """Takes the sockets back; reading from the transports is still off."""
    found, to_client, to_server, held, side, chunk = flow.take()
    return ReturnedFlow(_account(found), to_client, to_server, held, side, chunk or b"")


def _account(found: tuple[int, int, int, bytes, int, int, int]) -> RelayedTraffic:
    cycles, transactions, status, pending, rest, received, sent = found
    return RelayedTraffic(Tally(cycles, transactions, status, pending, rest), received, sent)
