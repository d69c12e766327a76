"""One client's session: what is relayed, what is translated, and when.

Owns the phases of a session and the client's half of the stream. Bytes go in, commands come out; nothing here
awaits. The server's half is `backend`, the content of NL messages is `translator`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import ClassVar

from engine.errors import CancelledError
from engine.types import ErrorReply
from proxy.protocol import codec, fast, notices
from proxy.protocol.backend import Backend
from proxy.protocol.commands import (
    AbortConsult,
    Close,
    Command,
    Consult,
    Dial,
    EngineReply,
    KeyKnown,
    LoanEnded,
    SendCancel,
    StatementFailed,
    StatementSeen,
    ToClient,
    ToUpstream,
)
from proxy.protocol.fast import hop
from proxy.protocol.framing import (
    AUTHENTICATION_LIMIT,
    FRONTEND_LIMITS,
    HEADER,
    HEADER_SIZE,
    LENGTH_SIZE,
    ProtocolViolationError,
    frontend_length,
    kinds,
    passes,
    startup_length,
)
from proxy.protocol.inspection import Inspector, Look, SessionLimits
from proxy.protocol.lending import Lending
from proxy.protocol.messages import CancelRequest, EncryptionRequest, Startup
from proxy.protocol.replies import Debt, Status
from proxy.protocol.translator import Job, Rewritten

BACKLOG_LIMIT = 1 << 16
"""Bytes of a client that are held back during a translation before the driver should stop reading."""

_SYNC = ord("S")
_PASSWORD = ord("p")
_PLAIN_TABLE = passes(FRONTEND_LIMITS, b"QPSFcf")
_SPECIAL_TABLE = passes(FRONTEND_LIMITS, b"QPSFcfBDC")
_ACCOUNTED = frozenset(b"QFScf")


_OVERDUE = ErrorReply(
    "57014",
    "the server did not stop a statement of the question in time, and the session has ended",
    hint="Ask for less at once. What the server still does ends there by itself or by pg_terminate_backend.",
)
_LOST = ErrorReply(
    "08006",
    "the session could not be given back as it was after a question, and has ended",
    hint="Connect again.",
)


class Phase(Enum):
    """Where a session stands."""

    STARTUP = auto()
    DIALLING = auto()
    AUTHENTICATING = auto()
    RELAYING = auto()
    CONSULTING = auto()
    CLOSED = auto()


class Event(Enum):
    """What moves a session from phase to phase."""

    ENCRYPTION_ASKED = auto()
    CANCEL_ASKED = auto()
    STARTED = auto()
    DIALLED = auto()
    DIAL_FAILED = auto()
    AUTHENTICATED = auto()
    CONSULTED = auto()
    ANSWERED = auto()
    VIOLATED = auto()


TRANSITIONS: dict[tuple[Phase, Event], Phase] = {
    (Phase.STARTUP, Event.ENCRYPTION_ASKED): Phase.STARTUP,
    (Phase.STARTUP, Event.CANCEL_ASKED): Phase.CLOSED,
    (Phase.STARTUP, Event.STARTED): Phase.DIALLING,
    (Phase.STARTUP, Event.VIOLATED): Phase.CLOSED,
    (Phase.DIALLING, Event.DIALLED): Phase.AUTHENTICATING,
    (Phase.DIALLING, Event.DIAL_FAILED): Phase.CLOSED,
    (Phase.AUTHENTICATING, Event.AUTHENTICATED): Phase.RELAYING,
    (Phase.AUTHENTICATING, Event.VIOLATED): Phase.CLOSED,
    (Phase.RELAYING, Event.CONSULTED): Phase.CONSULTING,
    (Phase.RELAYING, Event.VIOLATED): Phase.CLOSED,
    (Phase.CONSULTING, Event.ANSWERED): Phase.RELAYING,
}
"""(phase, event) → phase. What is not here is a fault of the driver's."""

_HOLDING = frozenset({Phase.DIALLING, Phase.CONSULTING, Phase.CLOSED})
"""Phases in which the client's bytes wait."""


def _relays_nothing(_data: bytes) -> bool:
    """`Session.relay_backend` while the server is lent."""
    return False


class Session:
    """The state machine of one client connection."""

    __slots__ = (
        "_account",
        "_inbox",
        "_inspector",
        "_job",
        "_key_told",
        "_late",
        "_lending",
        "_limits",
        "_need",
        "_plain",
        "_rest",
        "backend",
        "phase",
        "relay_backend",
    )

    def __init__(self, limits: SessionLimits) -> None:
        self._limits = limits
        self._inspector: Inspector | None = None
        self._plain = False
        self._inbox = bytearray()
        self._need = 0
        self._rest = 0
        self._job: tuple[int, Job] | None = None
        self._key_told = False
        self._lending: Lending | None = None
        self._late: EngineReply | None = None
        self.backend = Backend()
        self._account = self.backend.replies.forwarded_boundary
        self.relay_backend: Callable[[bytes], bool] = self.backend.relay
        """Takes in a server's chunk that passes as it is; false where `receive_backend` has to look."""
        self.phase = Phase.STARTUP

    # -- the plain path

    def relay_frontend(self, data: bytes) -> bool:
        """Takes in a client's chunk that goes to the server as it is: whole messages, none of them for us.

        False, and nothing done, where `receive_frontend` has to look.
        """
        if not self._plain:
            return False
        boundary = fast.frontend(data)
        if not boundary:
            return False
        self._account(boundary)
        return True

    @property
    def debt(self) -> Debt | None:
        """What somebody else who relays plain chunks has to know; None where the next ones need the session."""
        return self.backend.debt if self._plain else None

    # -- the client's bytes

    @property
    def at_rest(self) -> bool:
        """Whether nothing is under way and no transaction is open: the session can end without a loss."""
        replies = self.backend.replies
        under_way = self._inbox or self._rest or replies.waiting_for_server or replies.has_open_segment
        return self.phase is Phase.RELAYING and replies.status == Status.IDLE and not under_way

    @property
    def backlogged(self) -> bool:
        """Whether so much is held back that the driver should stop reading from the client."""
        return len(self._inbox) > BACKLOG_LIMIT and self.phase is not Phase.RELAYING

    def receive_frontend(self, data: bytes) -> list[Command]:
        """Takes in a client's chunk."""
        out: list[Command] = []
        if self._inbox:
            self._inbox += data
            self._process_inbox(out)
        else:
            self._process(data, out)
        self._settle()
        return out

    def _settle(self) -> None:
        """Notes whether the next chunk starts at a boundary and can pass without a closer look."""
        self._plain = (
            self.phase is Phase.RELAYING
            and not self._inbox
            and self._rest == 0
            and self._inspector is not None
            and not self._inspector.watchful
        )

    def _process_inbox(self, out: list[Command]) -> None:
        if len(self._inbox) < self._need or self.phase in _HOLDING:
            return
        data = bytes(self._inbox)
        self._inbox.clear()
        self._process(data, out)

    def _process(self, data: bytes, out: list[Command]) -> None:
        """Takes in bytes that begin where the last call left off; keeps what cannot be decided yet."""
        self._need = 0
        try:
            before = None
            while data and before is not self.phase and self.phase not in _HOLDING:
                before = self.phase
                handle = self._HANDLERS[before]
                data = data[handle(self, data, out) :]
        except ProtocolViolationError as violation:
            self._violate(str(violation), out)
            return
        if self.phase is not Phase.CLOSED:
            self._inbox += data

    def _violate(self, text: str, out: list[Command]) -> None:
        self._move(Event.VIOLATED)
        self._end(ErrorReply("08P01", text), out)

    def _end(self, error: ErrorReply, out: list[Command]) -> None:
        if self.backend.at_boundary:
            out.append(ToClient(codec.encode_error(error, self.backend.encoding, severity=b"FATAL")))
        out.append(Close(error.message))

    # -- startup and authentication

    def _first_packets(self, data: bytes, out: list[Command]) -> int:
        consumed = 0
        while self.phase is Phase.STARTUP:
            length = startup_length(data[consumed:])
            if length is None or consumed + length > len(data):
                break
            self._first_packet(data[consumed : consumed + length], out)
            consumed += length
        return consumed

    def _first_packet(self, packet: bytes, out: list[Command]) -> None:
        first = codec.decode_first(packet)
        match first:
            case EncryptionRequest():
                self._move(Event.ENCRYPTION_ASKED)
                out.append(ToClient(b"N"))
            case CancelRequest():
                self._move(Event.CANCEL_ASKED)
                out.append(SendCancel(first))
            case Startup():
                self._move(Event.STARTED)
                self._inspector = Inspector(first, self.backend, self._limits)
                self.backend.attend(self._inspector)
                out.append(Dial(first))

    def dialled(self) -> list[Command]:
        """The upstream connection stands."""
        self._move(Event.DIALLED)
        # The server opens with a cycle of its own, which ends with ReadyForQuery as every other.
        self.backend.replies.forwarded_boundary(_SYNC)
        out: list[Command] = [ToUpstream(self._inspecting.startup.packet)]
        self._process_inbox(out)
        self._settle()
        return out

    def dial_failed(self, error: ErrorReply) -> list[Command]:
        """There is no upstream connection."""
        self._move(Event.DIAL_FAILED)
        out: list[Command] = []
        self._end(error, out)
        return out

    def shut_down(self) -> list[Command]:
        """The gateway ends the session."""
        out: list[Command] = []
        self.phase = Phase.CLOSED
        self._end(ErrorReply("57P01", "terminating connection because the gateway shuts down"), out)
        return out

    @property
    def _inspecting(self) -> Inspector:
        if self._inspector is None:
            raise AssertionError("the session has not started")
        return self._inspector

    def _authentication(self, data: bytes, out: list[Command]) -> int:
        """Passes the client's authentication messages; what comes after them waits for the server's word."""
        pos = 0
        while pos + HEADER_SIZE <= len(data) and data[pos] == _PASSWORD:
            _, length = HEADER.unpack_from(data, pos)
            if not LENGTH_SIZE <= length <= AUTHENTICATION_LIMIT:
                raise ProtocolViolationError("invalid message length")
            if pos + 1 + length > len(data):
                break
            pos += 1 + length
        if pos:
            out.append(ToUpstream(data[:pos]))
        return pos

    # -- the server's bytes

    def receive_backend(self, data: bytes) -> list[Command]:
        """Takes in a server's chunk."""
        if self._lending is None:
            return self._received_backend(data)
        if self._lending.opened:
            return self._lent(self._lending.loan.receive_backend(data))
        return self._lent([*self._received_backend(data), *self._lending.proceed()])

    def _received_backend(self, data: bytes) -> list[Command]:
        pieces = self.backend.receive(data)
        out: list[Command] = [ToClient(b"".join(pieces))] if pieces else []
        if self.backend.key is not None and not self._key_told:
            self._key_told = True
            out.append(KeyKnown(self.backend.key))
        if self.phase is Phase.AUTHENTICATING and self.backend.authenticated:
            self._move(Event.AUTHENTICATED)
            self._process_inbox(out)
        self._settle()
        return out

    # -- messages after authentication

    def _messages(self, data: bytes, out: list[Command]) -> int:
        """Relays whole and partial messages up to the first that has to wait. Returns the bytes consumed."""
        replies, inspector = self.backend.replies, self._inspecting
        size, pos = len(data), self._rest
        forwarded, accounted = 0, pos
        while self.phase is Phase.RELAYING:
            pos = hop(data, pos, _SPECIAL_TABLE if inspector.watchful else _PLAIN_TABLE)
            if pos + HEADER_SIZE > size:
                break
            kind, end = data[pos], pos + 1 + frontend_length(data, pos)
            action = inspector.inspect(kind, data, pos, end)
            if action is Look.MORE:
                self._need = inspector.need
                break
            if action is Look.PASS:
                if kind in _ACCOUNTED:
                    # What a Sync closes needs no account of its own: an error skips to the Sync anyway.
                    replies.forwarded(b"S" if kind == _SYNC else kinds(data, accounted, pos + 1))
                    accounted = end
                pos = end
                continue
            replies.forwarded(kinds(data, accounted, pos))
            if forwarded < pos:
                out.append(ToUpstream(data[forwarded:pos]))
            forwarded = accounted = pos = end
            if isinstance(action, Rewritten):
                self._emit(kind, action, out)
            else:
                self._job = (kind, action)
                self._step(None, out)
        consumed = min(pos, size)
        if accounted < consumed:
            replies.forwarded(kinds(data, accounted, consumed))
        if forwarded < consumed:
            out.append(ToUpstream(data[forwarded:consumed]))
        self._rest = pos - consumed
        return consumed

    # -- translation

    def _step(self, reply: EngineReply | None, out: list[Command]) -> None:
        """Runs the job up to its next request, or to its end."""
        if self._job is None:
            raise AssertionError("no translation is under way")
        kind, job = self._job
        try:
            request = next(job) if reply is None else job.send(reply)
        except StopIteration as done:
            self._job = None
            self._emit(kind, done.value, out)
        else:
            self._report(out)
            self._move(Event.CONSULTED)
            out.append(Consult(request))

    def _emit(self, kind: int, rewritten: Rewritten, out: list[Command]) -> None:
        translator = self._inspecting.translator
        self._report(out)
        for expected in translator.expected:
            self.backend.expect_error(expected)
            out.append(StatementFailed(expected.error))
        translator.expected.clear()
        self.backend.replies.forwarded(bytes([kind]), rewritten.mark)
        out.append(ToUpstream(rewritten.message))

    def _report(self, out: list[Command]) -> None:
        seen = self._inspecting.translator.conversation.seen
        out += [StatementSeen(kind) for kind in seen]
        seen.clear()

    def answered(self, reply: EngineReply) -> list[Command]:
        """The engine's reply to the last `Consult`; it waits where a loan still stands, which ends."""
        if self._lending is not None:
            self._late = reply
            return self.borrower_left()
        out: list[Command] = []
        self._move(Event.ANSWERED)
        self._step(reply, out)
        self._process_inbox(out)
        self._settle()
        return out

    def progress(self, seconds: float) -> list[Command]:
        """The engine has been awaited for so long: the client is told, where that cannot cut a message.

        A NoticeResponse may stand between any two messages to the client (docs, 54.2.6).
        """
        if self.phase is not Phase.CONSULTING or not self.backend.at_boundary:
            return []
        return [ToClient(notices.progress(seconds, self.backend.encoding))]

    def cancelled(self) -> tuple[bool, list[Command]]:
        """The client wants its running statement cancelled.

        Returns whether the server has to be told, and what else is to be done. Where only the engine is
        awaited the server is left alone, lest the request meet a later statement.
        """
        replies = self.backend.replies
        error = CancelledError("canceling statement due to user request").reply()
        if self._lending is not None and self._lending.opened:
            return False, [AbortConsult(), *self.answered(error)]
        if self.phase is not Phase.CONSULTING or replies.waiting_for_server:
            return True, []
        return replies.has_open_segment, [AbortConsult(), *self.answered(error)]

    # -- lending the server to the engine

    @property
    def can_lend(self) -> bool:
        """Whether an engine is consulted that has no loan yet and no answer."""
        return self.phase is Phase.CONSULTING and self._lending is None and self._late is None

    def lend(self) -> list[Command]:
        """The engine wants the session's server for one transaction; only while `can_lend`."""
        self._lending = Lending(self.backend, self._inspecting.translator.unnamed)
        return self._lent(self._lending.proceed())

    def receive_borrower(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the borrower's."""
        return [] if self._lending is None else self._lent(self._lending.loan.receive_borrower(data))

    def borrower_left(self) -> list[Command]:
        """The borrower has gone, or is to go."""
        return [] if self._lending is None else self._lent(self._lending.leave())

    def cancel_sent(self) -> list[Command]:
        """The last `CancelLent` has been carried out."""
        return [] if self._lending is None else self._lent(self._lending.loan.cancelled())

    def loan_overdue(self) -> list[Command]:
        """The server has not come back in time: the session ends."""
        self.phase = Phase.CLOSED
        out: list[Command] = []
        self._end(_OVERDUE, out)
        return out

    def _lent(self, out: list[Command]) -> list[Command]:
        """Looks where the loan is after each step; when it has ended, the session goes on."""
        lending = self._lending
        if lending is None:
            return out
        self.relay_backend = _relays_nothing if lending.opened else self.backend.relay
        if not lending.ended:
            return out
        self._lending = None
        self.relay_backend = self.backend.relay
        if not lending.refused:
            self.backend.replies.synced(lending.loan.status)
            out += self._received_backend(lending.loan.leftover)
        if LoanEnded(intact=False) in out:
            self.phase = Phase.CLOSED
            self._end(_LOST, out)
        elif self._late is not None:
            late, self._late = self._late, None
            out += self.answered(late)
        return out

    _HANDLERS: ClassVar[dict[Phase, Callable[[Session, bytes, list[Command]], int]]] = {
        Phase.STARTUP: _first_packets,
        Phase.AUTHENTICATING: _authentication,
        Phase.RELAYING: _messages,
    }

    def _move(self, event: Event) -> None:
        self.phase = TRANSITIONS[self.phase, event]
