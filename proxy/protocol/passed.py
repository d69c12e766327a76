"""The messages of a client's chunk that pass as they are: their account, and the bytes that go out for them."""

from __future__ import annotations

from proxy.protocol.commands import Command, ToUpstream
from proxy.protocol.framing import kinds
from proxy.protocol.replies import Replies

_SYNC = ord("S")
_ACCOUNTED = frozenset(b"QFScf")


class Passed:
    """How far a chunk's messages that pass have been accounted for, and sent; `pos`: where its first one starts."""

    __slots__ = ("_accounted", "_data", "_replies", "_sent")

    def __init__(self, replies: Replies, data: bytes, pos: int) -> None:
        self._replies = replies
        self._data = data
        self._accounted = pos
        self._sent = 0

    def account(self, kind: int, pos: int, end: int) -> None:
        """The message `data[pos:end]` passes."""
        if kind in _ACCOUNTED:
            # Messages before a Sync need no entries of their own: an error skips to the Sync anyway.
            self._replies.forwarded(b"S" if kind == _SYNC else kinds(self._data, self._accounted, pos + 1))
            self._accounted = end

    def send(self, pos: int, end: int, out: list[Command]) -> None:
        """All before `pos` goes out; what is before `end` is not sent as it is."""
        if self._accounted < pos:
            self._replies.forwarded(kinds(self._data, self._accounted, pos))
        if self._sent < pos:
            out.append(ToUpstream(self._data[self._sent : pos]))
        self._sent = self._accounted = end
