"""The server's half of a session: its bytes pass, its replies are accounted for, a few are replaced.

Owns the framing of what the server sends and what the session learns from it: transaction status, parameters,
the cancel key. A chunk without a reply to change passes as it came.
"""

from __future__ import annotations

from typing import Protocol

from engine.types import ErrorReply
from proxy.protocol import codec, scan
from proxy.protocol.encoding import python_encoding
from proxy.protocol.framing import ANY_LENGTH, HEADER, HEADER_SIZE, hop, passes
from proxy.protocol.replies import Dropped, Replies, Status
from proxy.protocol.translate import ERROR_TOKEN

_EXACT = passes(ANY_LENGTH, scan.BACKEND_STOPS + b"123CIsTnt")
_READY = ord("Z")
_ERROR = ord("E")
_STATUS = ord("S")
_COPY_IN = ord("G")
_KEY = ord("K")
_AUTHENTICATION = ord("R")
_PARAMETERS = ord("t")
_AUTHENTICATED = HEADER.pack(_AUTHENTICATION, 8) + bytes(4)
_TOKEN_PREFIX = ERROR_TOKEN.encode()


class Listener(Protocol):
    """Who has to know what becomes of marked messages."""

    def undo(self, dropped: Dropped) -> None:
        """A marked message was not carried out."""

    def transaction_ended(self) -> None:
        """The server is idle; told only while `Backend.watching` is set."""


class Backend:
    """What the server has said so far."""

    __slots__ = (
        "_errors",
        "_listener",
        "_partial",
        "_rest",
        "authenticated",
        "encoding",
        "key",
        "replies",
        "standard_strings",
        "watching",
    )

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self._partial = b""
        self._rest = 0
        self._errors: dict[bytes, tuple[int, ErrorReply]] | None = None
        self.replies = Replies()
        self.watching = False
        self.authenticated = False
        self.key: bytes | None = None
        self.encoding = "utf-8"
        self.standard_strings = True

    def expect_error(self, token: str, error: ErrorReply) -> None:
        """An error of the server's that names `token` is to be replaced by `error`."""
        self._errors = {**(self._errors or {}), token.encode(): (self.replies.cycles_forwarded, error)}
        self.watching = True

    def attend(self, listener: Listener) -> None:
        """Sets who is told of what happens."""
        self._listener = listener

    @property
    def at_boundary(self) -> bool:
        """Whether the client has been sent whole messages only."""
        return self._rest == 0 and not self._partial

    def relay(self, data: bytes) -> bool:
        """Takes in a chunk that passes untouched; false, and nothing done, where `receive` has to look."""
        if self._partial or self.replies.exact:
            return False
        meaning = scan.backend(data, self._rest)
        if meaning < 0:
            return False
        self._rest = meaning >> 8
        status = meaning & 0xFF
        if status:
            self._ready(status)
        return True

    def receive(self, chunk: bytes) -> list[bytes]:
        """Takes in a chunk. Returns what goes to the client, in order; a message cut short waits."""
        data = self._partial + chunk
        size, pos, start = len(data), self._rest, 0
        out: list[bytes] = []
        while True:
            pos = hop(data, pos, _EXACT if self.replies.exact else scan.BACKEND_PLAIN)
            if pos + HEADER_SIZE > size:
                break
            end = pos + 1 + HEADER.unpack_from(data, pos)[1]
            if end > size:
                break
            replacement = self._observe(data[pos:end])
            if replacement is not None:
                out += [data[start:pos], replacement]
                start = end
            pos = end
        self._rest = max(0, pos - size)
        self._partial = data[pos:]
        out.append(data[start:pos])
        return [piece for piece in out if piece]

    def _observe(self, message: bytes) -> bytes | None:
        """Takes in one whole message. Returns what goes out instead of it, if anything else."""
        kind = message[0]
        if kind == _READY:
            notice = self._ready(message[-1])
            return notice + message if notice else None
        if kind == _ERROR:
            return self._failed(message)
        if kind == _COPY_IN:
            self.replies.copy_in_started()
        elif kind == _STATUS:
            self._parameter(*codec.decode_status(message))
        elif kind == _KEY:
            self.key = message[HEADER_SIZE:]
        elif kind == _AUTHENTICATION:
            self.authenticated = self.authenticated or message == _AUTHENTICATED
        elif kind == _PARAMETERS:
            mark = self.replies.head_mark()
            return (
                codec.without_last_parameter(message) if mark is not None and mark.strip_parameter else None
            )
        else:
            mark = self.replies.completed(kind)
            return mark.notice + message if mark is not None and mark.notice else None
        return None

    def _ready(self, status: int) -> bytes:
        mark = self.replies.ready(status)
        if self.watching and status == Status.IDLE:
            self._transaction_ended()
        return b"" if mark is None else mark.notice

    def _transaction_ended(self) -> None:
        """The portals that could still raise an expected error are gone with their transaction."""
        errors = (self._errors or {}).items()
        self._errors = {token: entry for token, entry in errors if entry[0] >= self.replies.cycles} or None
        if self._listener is not None:
            self._listener.transaction_ended()
        self.watching = self._errors is not None

    def _failed(self, message: bytes) -> bytes | None:
        for dropped in self.replies.failed():
            if self._listener is not None:
                self._listener.undo(dropped)
        if self._errors is None or _TOKEN_PREFIX not in message:
            return None
        fields = codec.error_fields(message)
        text = fields.get(b"M", b"") + b" " + fields.get(b"D", b"")
        for token, (_, error) in self._errors.items():
            if b'"' + token + b'"' in text:
                return codec.encode_error(error, self.encoding, severity=fields.get(b"S", b"ERROR"))
        return None

    def _parameter(self, name: str, value: str) -> None:
        if name == "client_encoding":
            self.encoding = python_encoding(value)
        elif name == "standard_conforming_strings":
            self.standard_strings = value == "on"
