"""Message boundaries of the frontend/backend protocol, version 3, and the greatest length of each kind."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable

HEADER = struct.Struct(">BI")
"""A message's kind and its length, which counts itself but not the kind (PostgreSQL docs, 54.2)."""

HEADER_SIZE = HEADER.size

STARTUP_LIMIT = 10_000
"""Bytes of a startup packet without its length word (`MAX_STARTUP_PACKET_LENGTH`)."""

AUTHENTICATION_LIMIT = 65_535
"""Length of an authentication message (`PG_MAX_AUTH_TOKEN_LENGTH`)."""

SMALL_LIMIT = 10_000
"""Length of a message that carries names alone (`PQ_SMALL_MESSAGE_LIMIT`)."""

LARGE_LIMIT = 0x3FFF_FFFE
"""Length of a message that carries data (`PQ_LARGE_MESSAGE_LIMIT`)."""

FRONTEND_LIMITS: dict[int, int] = {
    **dict.fromkeys(b"QFBPd", LARGE_LIMIT),
    **dict.fromkeys(b"XCDEHScf", SMALL_LIMIT),
}
"""Kind of a frontend message after authentication → its greatest length, as `SocketBackend` checks it."""


RESPONSE = ord("p")
"""Kind of a client's authentication messages: PasswordMessage, SASLInitialResponse, SASLResponse, GSSResponse."""

_LEAST_STARTUP = 8

ANY_LENGTH: dict[int, int] = dict.fromkeys(range(256), 0xFFFF_FFFF)
"""Limits for the server's messages: it is trusted."""

LENGTH_SIZE = 4
"""Bytes of a length word, and so the least length."""


class ProtocolViolationError(Exception):
    """A client broke the protocol: its session, and no other, ends with FATAL 08P01."""


def passes(limits: dict[int, int], stops: Iterable[int]) -> array[int]:
    """A table for `hop`: the greatest length of each kind that needs no look, 0 for the kinds that do."""
    table = array("I", [0] * 256)
    for kind, limit in limits.items():
        table[kind] = limit
    for kind in stops:
        table[kind] = 0
    return table


def hop(data: bytes, pos: int, table: array[int]) -> int:
    """Walks over whole and partial messages from boundary `pos` as long as `table` lets them pass.

    Returns the offset of the first message that needs a look, or of a header that is not whole yet, or the
    end of the last message, which lies behind the end of `data` where its body is not whole yet.
    """
    last = len(data) - HEADER_SIZE
    unpack = HEADER.unpack_from
    while pos <= last:
        kind, length = unpack(data, pos)
        if length > table[kind] or length < LENGTH_SIZE:
            return pos
        pos += length + 1
    return pos


def kinds(data: bytes, start: int, end: int) -> bytes:
    """The kinds of the messages whose headers lie in `data[start:end]`; `start` is a boundary."""
    found = bytearray()
    while start < end:
        kind, length = HEADER.unpack_from(data, start)
        found.append(kind)
        start += length + 1
    return bytes(found)


def invalid_length() -> ProtocolViolationError:
    """The error for a message whose length is out of bounds."""
    return ProtocolViolationError("invalid message length")


def unexpected_response() -> ProtocolViolationError:
    """The error for a message of a login that is no authentication response, or too long for one."""
    return ProtocolViolationError("expected a password response")


def message_end(
    data: bytes,
    pos: int = 0,
    *,
    kind: int | None = None,
    limit: int | None = None,
    error: Callable[[], Exception] = invalid_length,
) -> int | None:
    """The offset behind the message that begins at `pos`; None where it has not arrived whole.

    `kind`: the only kind that is allowed, None for any. `limit`: the greatest length; None: no length is checked.
    Raises `Exception`: what `error` makes, by default a ProtocolViolationError: another kind, or a length below
    `LENGTH_SIZE` or above `limit`.
    """
    if pos + HEADER_SIZE > len(data):
        return None
    found, length = HEADER.unpack_from(data, pos)
    if (kind is not None and found != kind) or (limit is not None and not LENGTH_SIZE <= length <= limit):
        raise error()
    end = pos + 1 + int(length)
    return end if end <= len(data) else None


def frontend_length(data: bytes, pos: int) -> int:
    """The length of the frontend message whose whole header is at `pos`, checked. Raises `ProtocolViolationError`."""
    kind, length = HEADER.unpack_from(data, pos)
    limit = FRONTEND_LIMITS.get(kind)
    if limit is None:
        raise ProtocolViolationError(f"invalid frontend message type {kind}")
    if not LENGTH_SIZE <= length <= limit:
        raise invalid_length()
    return int(length)


def startup_length(data: bytes) -> int | None:
    """The length of the startup packet, length word included; None yet. Raises `ProtocolViolationError`."""
    if len(data) < LENGTH_SIZE:
        return None
    length = int.from_bytes(data[:LENGTH_SIZE], "big")
    if not _LEAST_STARTUP <= length <= STARTUP_LIMIT + LENGTH_SIZE:
        raise ProtocolViolationError("invalid length of startup packet")
    return length


def responses(data: bytes) -> int:
    """Where the whole authentication responses in `data` end, or 0. Raises `ProtocolViolationError`."""
    pos = 0
    while pos < len(data) and data[pos] == RESPONSE:
        end = message_end(data, pos, limit=AUTHENTICATION_LIMIT)
        if end is None:
            break
        pos = end
    return pos
