"""The plain path: whether a chunk passes as it came. Pure functions over plain values, run for every chunk.

Where a chunk may need more they answer no, and `session` and `backend` decide. Reference of the compiled ones (`fast`).
"""

from __future__ import annotations

import re

from proxy.protocol.framing import ANY_LENGTH, FRONTEND_LIMITS, HEADER, HEADER_SIZE, hop, passes

NEEDS_INSPECTION = -1

_QUERY = ord("Q")
_PARSE = ord("P")
_SYNC = ord("S")
_READY = ord("Z")
_SYNC_MESSAGE = b"S\0\0\0\4"
_READY_SIZE = 6
NL_WORD = re.compile(rb"(?<![A-Za-z0-9_$\x80-\xff])[nN][lL](?![A-Za-z0-9_$\x80-\xff])")
"""NL where PostgreSQL's lexer would not read it as a part of a longer identifier."""
NO_TEXT = passes(FRONTEND_LIMITS, b"QPSFcf")
"""Table for `hop`: a client's messages without a statement text, up to a Sync."""
TO_SYNC = passes(FRONTEND_LIMITS, b"QSFcf")
"""The same with Parse, for a chunk without the word NL."""
BACKEND_STOPS = b"ZESGRK"
"""Kinds of a server's messages that change a session's state in every phase."""
BACKEND_PLAIN = passes(ANY_LENGTH, BACKEND_STOPS)

_unpack = HEADER.unpack_from


def may_hold_nl(data: bytes) -> bool:
    """Whether the letters NL occur at all, in any case."""
    return b"nl" in data.lower()


def holds_nl(data: bytes) -> bool:
    """Whether NL occurs as a word of its own."""
    return may_hold_nl(data) and NL_WORD.search(data) is not None


def frontend(data: bytes) -> int:
    """The boundary that a client's chunk, which starts at one, brings and ends with.

    `Q` for exactly one Query, `S` for extended-query messages up to one Sync, each without the word NL in
    a text; 0 for every other chunk.
    """
    size = len(data)
    if size < HEADER_SIZE:
        return 0
    kind, length = _unpack(data)
    if kind == _QUERY:
        return 0 if length + 1 != size or holds_nl(data[HEADER_SIZE:]) else _QUERY
    if not data.endswith(_SYNC_MESSAGE):
        return 0
    pos = hop(data, 0, NO_TEXT)
    if pos < size and data[pos] == _PARSE:
        if holds_nl(data):
            return 0
        pos = hop(data, pos, TO_SYNC)
    return _SYNC if pos == size - len(_SYNC_MESSAGE) else 0


def backend(data: bytes, rest: int) -> int:
    """What a server's chunk, whose first `rest` bytes end a message begun before, means for the account.

    `NEEDS_INSPECTION`, or `rest << 8 | status`: the bytes of the last message that are still to come, and the
    transaction status where the chunk ends with ReadyForQuery and brings no other, else 0.
    """
    size = len(data)
    pos = hop(data, rest, BACKEND_PLAIN)
    if pos >= size:
        return (pos - size) << 8
    if pos == size - _READY_SIZE and data[pos] == _READY:
        return data[pos + HEADER_SIZE]
    return NEEDS_INSPECTION
