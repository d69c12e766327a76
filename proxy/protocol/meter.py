"""What the server's answer to one message of the client's came to, for the audit log. Counts as it passes."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.protocol import codec
from proxy.protocol.framing import HEADER_SIZE

_COMPLETE = ord("C")
_ERROR = ord("E")
_SELECT = b"SELECT "


@dataclass(frozen=True, slots=True)
class Delivered:
    """A cycle with an NL statement is answered, and all has gone to the client.

    `intents`: of the audit log's that it answers. `rows`: of all its SELECTs, None where none was completed. `size`: in
    bytes. `sqlstate`: of the error that the client got, None without one.
    """

    intents: int
    rows: int | None
    size: int | None
    sqlstate: str | None


class Meter:
    """Of one cycle, up to its ReadyForQuery. `cycle`: its number, as `Replies.cycles_forwarded`."""

    __slots__ = ("_rows", "_size", "_sqlstate", "cycle", "intents")

    def __init__(self, cycle: int) -> None:
        self.cycle = cycle
        self.intents = 0
        self._rows: int | None = None
        self._size = 0
        self._sqlstate: str | None = None

    @property
    def delivered(self) -> Delivered:
        """So far."""
        return Delivered(self.intents, self._rows, self._size, self._sqlstate)

    def passed(self, size: int) -> None:
        """So many bytes went to the client."""
        self._size += size

    def saw(self, message: bytes) -> None:
        """A whole message, as the client gets it."""
        if message[0] == _COMPLETE and message.startswith(_SELECT, HEADER_SIZE):
            self._rows = (self._rows or 0) + int(message[HEADER_SIZE + len(_SELECT) : -1])
        elif message[0] == _ERROR and self._sqlstate is None:
            self._sqlstate = codec.error_fields(message).get(b"C", b"").decode("ascii", "replace")
