"""The server's half of a session: its bytes pass, its replies are accounted for, a few are replaced."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Protocol

from engine.values.messages import ErrorReply
from proxy.protocol import codec, fast, scan
from proxy.protocol.encoding import python_encoding
from proxy.protocol.fast import hop
from proxy.protocol.framing import ANY_LENGTH, HEADER, HEADER_SIZE, passes
from proxy.protocol.meter import Delivered, Meter
from proxy.protocol.replacement_sql import ERROR_TOKEN
from proxy.protocol.replies import Allowance, DroppedMark, RelayState, Replies, Tally, TransactionStatus

_EXACT = passes(ANY_LENGTH, scan.BACKEND_STOPS + b"123CIsTnt")
_READY = ord("Z")
_ERROR = ord("E")
_STATUS = ord("S")
_COMPLETE = ord("C")
_COPY_IN = ord("G")
_KEY = ord("K")
_AUTHENTICATION = ord("R")
_CHALLENGES = frozenset(code.to_bytes(4, "big") for code in (3, 5, 7, 9, 10, 11))
"""Authentication requests that the client has to answer: after AuthenticationGSSContinue it may have nothing to say."""
_PARAMETERS = ord("t")
_TOKEN = re.compile(ERROR_TOKEN.encode() + rb"[0-9]+")
_WATCHED = (b"client_encoding\0", b"standard_conforming_strings\0", b"server_version\0")
_STALE_PLAN = b"RevalidateCachedQuery"
_CANCELLED = b"57014"


def _overdue(allowance: Allowance) -> ErrorReply:
    """The error for a statement of an answer's that took too long."""
    text = f"the statement took longer than the {allowance.seconds:g} seconds of nl.timeout"
    return ErrorReply(_CANCELLED.decode(), text, hint="Raise nl.timeout, or ask for less at once.")


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The server's error that names `token` reaches the client as `error`; `stale_plan`: as an outdated plan's."""

    token: str
    error: ErrorReply
    stale_plan: bool = False


class ReplyObserver(Protocol):
    """Is told of marked messages that fail, and of the ends of transactions."""

    def undo(self, dropped: DroppedMark) -> None:
        """A marked message was not carried out."""

    def transaction_ended(self) -> None:
        """No transaction is open any more; told only while `Backend.watching` is set."""


class Backend:
    """The state of the server's side, from the messages so far."""

    __slots__ = (
        "_delivered",
        "_errors",
        "_meters",
        "_observer",
        "_partial",
        "_rest",
        "authenticated",
        "challenges",
        "counted",
        "encoding",
        "key",
        "replies",
        "server_version",
        "standard_strings",
        "watching",
    )

    def __init__(self) -> None:
        self._observer: ReplyObserver | None = None
        self._partial = b""
        self._rest = 0
        self._errors: dict[bytes, tuple[int, ExpectedError]] | None = None
        self.replies = Replies()
        self.watching = False
        self.authenticated = False
        self.challenges = 0
        """Challenges of the server less the client's responses; below 0 where responses came before."""
        self.key: bytes | None = None
        self.counted = 0
        """Intents of the message under way, the answer to which is to be counted, for `delivered`."""
        self._meters: tuple[Meter, ...] = ()
        self._delivered: tuple[Delivered, ...] = ()
        self.encoding = "utf-8"
        self.server_version = ""
        self.standard_strings = True

    def expect_error(self, expected: ExpectedError) -> None:
        """The next message forwarded will raise an error in our place."""
        entry = (self.replies.cycles_forwarded, expected)
        self._errors = {**(self._errors or {}), expected.token.encode(): entry}
        self.watching = True

    def begin_count(self) -> None:
        """The message is about to be forwarded: the cycle that it belongs to is counted, whatever is before it."""
        if self.counted:
            cycle = self.replies.cycles_forwarded
            if not self._meters or self._meters[-1].cycle != cycle:
                self._meters += (Meter(cycle),)
            self._meters[-1].intents += self.counted
            self.replies.metered = True
            self.counted = 0

    def delivered(self) -> tuple[Delivered, ...]:
        """What the client got in each cycle that has ended since it was last asked, and was counted."""
        delivered, self._delivered = self._delivered, ()
        return delivered

    def observe_with(self, observer: ReplyObserver) -> None:
        """Sets the observer."""
        self._observer = observer

    @property
    def at_boundary(self) -> bool:
        """Whether the client has been sent whole messages only."""
        return self._rest == 0 and not self._partial

    @property
    def relay_state(self) -> RelayState | None:
        """The state to hand to another relay of plain chunks; None where only this object can relay."""
        relayable_pending = None if self._partial or self.watching else self.replies.relayable_pending
        return None if relayable_pending is None else RelayState(self._rest, relayable_pending)

    def relayed(self, tally: Tally) -> None:
        """Another relay has relayed since the `relay_state`, or since the last tally."""
        self._rest = tally.rest
        self.replies.relayed(tally)

    def relay(self, data: bytes) -> bool:
        """Takes in a chunk that passes untouched; false, and nothing done, where `receive` has to look."""
        if self._partial or self.replies.exact:
            return False
        meaning = fast.backend(data, self._rest)
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
        before = 0
        while True:
            pos = hop(data, pos, _EXACT if self.replies.exact else scan.BACKEND_PLAIN)
            if pos + HEADER_SIZE > size:
                break
            end = pos + 1 + HEADER.unpack_from(data, pos)[1]
            if end > size:
                break
            message = data[pos:end]
            meter = self._metering()
            replacement = self._observe(message)
            if replacement is not None:
                out += [data[start:pos], replacement]
                start = end
            pos = end
            if meter is not None:
                meter.saw(replacement or message if message[0] == _ERROR else message)
            if message[0] == _READY and self._meters:
                gone = sum(map(len, out)) + end - start
                if meter is not None:
                    self._end(meter, gone - before)
                before = gone
        self._rest = max(0, pos - size)
        self._partial = data[pos:]
        out.append(data[start:pos])
        if (meter := self._metering()) is not None:
            meter.passed(sum(map(len, out)) - before)
        return [piece for piece in out if piece]

    def _metering(self) -> Meter | None:
        """Of the cycle that the server answers now."""
        meter = self._meters[0] if self._meters else None
        return meter if meter is not None and meter.cycle == self.replies.cycles else None

    def _end(self, meter: Meter, size: int) -> None:
        meter.passed(size)
        self._delivered += (meter.delivered,)
        self._meters = self._meters[1:]
        self.replies.metered = bool(self._meters)

    def _observe(self, message: bytes) -> bytes | None:
        """Takes in one whole message. Returns its replacement; None: it passes as it is."""
        kind = message[0]
        if kind == _READY:
            notice = self._ready(message[-1])
            return notice + message if notice else None
        if kind == _ERROR:
            return self._failed(message)
        if kind == _COPY_IN:
            self.replies.copy_in_started()
        elif kind == _STATUS:
            # A dozen come with each login; three are read.
            if message.startswith(_WATCHED, HEADER_SIZE):
                self._parameter(*codec.decode_status(message))
        elif kind == _KEY:
            self.key = message[HEADER_SIZE:]
        elif kind == _AUTHENTICATION:
            self.authenticated = self.authenticated or message == codec.AUTHENTICATION_OK
            self.challenges += message[HEADER_SIZE : HEADER_SIZE + 4] in _CHALLENGES
        elif kind == _PARAMETERS:
            mark = self.replies.head_mark()
            return (
                codec.without_last_parameter(message) if mark is not None and mark.strip_parameter else None
            )
        else:
            tag = message[HEADER_SIZE:-1] if kind == _COMPLETE else b""
            mark = self.replies.completed(kind, tag)
            return mark.notice + message if mark is not None and mark.notice else None
        return None

    def _ready(self, status: int) -> bytes:
        mark = self.replies.ready(status)
        if self.watching:
            self._cycle_ended(status)
        return b"" if mark is None else mark.notice

    def _cycle_ended(self, status: int) -> None:
        """Drops the expected errors of cycles that have ended: every message before has been answered."""
        errors = (self._errors or {}).items()
        self._errors = {token: entry for token, entry in errors if entry[0] >= self.replies.cycles} or None
        if status == TransactionStatus.IDLE:
            if self._observer is not None:
                self._observer.transaction_ended()
            self.watching = self._errors is not None

    def _failed(self, message: bytes) -> bytes | None:
        allowance = self.replies.allowance
        for dropped in self.replies.failed():
            if self._observer is not None:
                self._observer.undo(dropped)
        if allowance is not None and allowance.overdue:
            fields = codec.error_fields(message)
            if fields.get(b"C") == _CANCELLED:
                return codec.encode_error(_overdue(allowance), self.encoding, shown=fields.get(b"S"))
        if self._errors is None:
            return None
        fields = codec.error_fields(message)
        token = _TOKEN.search(fields.get(b"M", b""))
        _, expected = self._errors.get(token.group() if token else b"", (0, None))
        if expected is None:
            return None
        return codec.encode_error(
            expected.error,
            self.encoding,
            shown=fields.get(b"S"),
            routine=_STALE_PLAN if expected.stale_plan else None,
        )

    def _parameter(self, name: str, value: str) -> None:
        if name == "client_encoding":
            self.encoding = python_encoding(value)
        elif name == "standard_conforming_strings":
            self.standard_strings = value == "on"
        elif name == "server_version":
            self.server_version = sys.intern(value)
