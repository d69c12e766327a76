"""One client's session: what is relayed, what is translated, and when.

Owns the phases of a session and the client's half of the stream. Bytes go in, commands come out; nothing here
awaits. The server's half is `backend`, the content of NL messages is `translator`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from engine.errors import CancelledError
from engine.types import Asker, ErrorReply
from proxy.protocol import codec
from proxy.protocol.backend import Backend
from proxy.protocol.commands import (
    AbortConsult,
    Close,
    Command,
    Consult,
    Dial,
    EngineReply,
    KeyKnown,
    SendCancel,
    StatementFailed,
    StatementSeen,
    ToClient,
    ToUpstream,
)
from proxy.protocol.encoding import decode
from proxy.protocol.framing import (
    AUTHENTICATION_LIMIT,
    FRONTEND_LIMITS,
    HEADER,
    HEADER_SIZE,
    ProtocolViolationError,
    frontend_length,
    hop,
    kinds,
    passes,
    startup_length,
)
from proxy.protocol.messages import CancelRequest, EncryptionRequest, Startup
from proxy.protocol.nl import settings
from proxy.protocol.nl.classify import examine, holds_nl_word, may_hold_nl
from proxy.protocol.nl.statements import Examination
from proxy.protocol.replies import Dropped, Mark, Status
from proxy.protocol.translator import Job, Rewritten, Situation, Special, Translator

INSPECTION_LIMIT = 1 << 20
"""Length of a statement's message up to which its text is searched for NL; longer ones stream through."""

BACKLOG_LIMIT = 1 << 16
"""Bytes of a client that are held back during a translation before the driver should stop reading."""

_SYNC = ord("S")
_QUERY = ord("Q")
_PARSE = ord("P")
_BIND = ord("B")
_DESCRIBE = ord("D")
_CLOSE = ord("C")
_PASSWORD = ord("p")
_BOUNDARY_STOPS = b"QSF"
_PLAIN_TABLE = passes(FRONTEND_LIMITS, b"QPSFcf")
_SPECIAL_TABLE = passes(FRONTEND_LIMITS, b"QPSFcfBDC")
_TO_SYNC_TABLE = passes(FRONTEND_LIMITS, b"QSFcf")
_SYNC_MESSAGE = b"S\0\0\0\4"
_ACCOUNTED = frozenset(b"QFcf")


class Look(Enum):
    """What an inspection says of a message that is not translated."""

    PASS = auto()
    MORE = auto()


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


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """`question_chars`: the longest question, in characters."""

    question_chars: int = 4000


class Session:
    """The state machine of one client connection."""

    __slots__ = (
        "_inbox",
        "_job",
        "_key_told",
        "_limits",
        "_need",
        "_rest",
        "_startup",
        "_translator",
        "_watchful",
        "backend",
        "phase",
    )

    def __init__(self, limits: SessionLimits) -> None:
        self._limits = limits
        self._translator: Translator | None = None
        self._watchful = False
        self._inbox = bytearray()
        self._need = 0
        self._rest = 0
        self._job: tuple[int, Job] | None = None
        self._startup: Startup | None = None
        self._key_told = False
        self.backend = Backend(self._undo, self._at_idle)
        self.phase = Phase.STARTUP

    # -- the plain path

    def relay_frontend(self, data: bytes) -> bool:
        """Takes in a client's chunk that goes to the server as it is: whole messages, none of them for us.

        False, and nothing done, where `receive_frontend` has to look.
        """
        size = len(data)
        if (
            self._watchful
            or self._rest
            or self._inbox
            or size < HEADER_SIZE
            or self.phase is not Phase.RELAYING
        ):
            return False
        kind, length = HEADER.unpack_from(data)
        if kind == _QUERY:
            if length + 1 != size or may_hold_nl(data):
                return False
            self.backend.replies.forwarded_boundary(kind)
            return True
        if not data.endswith(_SYNC_MESSAGE):
            return False
        pos = hop(data, 0, _PLAIN_TABLE)
        if data[pos : pos + 1] == b"P":
            if may_hold_nl(data):
                return False
            pos = hop(data, pos, _TO_SYNC_TABLE)
        if pos != size - len(_SYNC_MESSAGE):
            return False
        self.backend.replies.forwarded_boundary(_SYNC)
        return True

    def relay_backend(self, data: bytes) -> bool:
        """Takes in a server's chunk that goes to the client as it is; false where `receive_backend` has to look."""
        return self.backend.relay(data)

    # -- the client's bytes

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
        return out

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
                self._startup = first
                out.append(Dial(first))

    def dialled(self) -> list[Command]:
        """The upstream connection stands."""
        self._move(Event.DIALLED)
        # The server opens with a cycle of its own, which ends with ReadyForQuery as every other.
        self.backend.replies.forwarded_boundary(_SYNC)
        out: list[Command] = [ToUpstream(self._started.packet)]
        self._process_inbox(out)
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
    def _started(self) -> Startup:
        if self._startup is None:
            raise AssertionError("the session has not started")
        return self._startup

    def _authentication(self, data: bytes, out: list[Command]) -> int:
        """Passes the client's authentication messages; what comes after them waits for the server's word."""
        pos = 0
        while pos + HEADER_SIZE <= len(data) and data[pos] == _PASSWORD:
            _, length = HEADER.unpack_from(data, pos)
            if not 4 <= length <= AUTHENTICATION_LIMIT:
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
        pieces = self.backend.receive(data)
        out: list[Command] = [ToClient(b"".join(pieces))] if pieces else []
        if self.backend.key is not None and not self._key_told:
            self._key_told = True
            out.append(KeyKnown(self.backend.key))
        if self.phase is Phase.AUTHENTICATING and self.backend.authenticated:
            self._move(Event.AUTHENTICATED)
            self._process_inbox(out)
        return out

    def _undo(self, dropped: Dropped) -> None:
        if dropped.mark.change is not None and self._translator is not None:
            self._translator.undo(dropped.mark.change, failed=dropped.failed)

    def _at_idle(self) -> None:
        if self._translator is not None:
            self._translator.transaction_ended()

    # -- messages after authentication

    def _messages(self, data: bytes, out: list[Command]) -> int:
        """Relays whole and partial messages up to the first that has to wait. Returns the bytes consumed."""
        replies = self.backend.replies
        size, pos = len(data), self._rest
        forwarded, accounted = 0, pos
        while self.phase is Phase.RELAYING:
            pos = hop(data, pos, _SPECIAL_TABLE if self._watchful else _PLAIN_TABLE)
            if pos + HEADER_SIZE > size:
                break
            kind, end = data[pos], pos + 1 + frontend_length(data, pos)
            action = self._inspect(kind, data, pos, end)
            if action is Look.MORE:
                break
            if action is Look.PASS:
                if kind == _SYNC:
                    replies.forwarded_boundary(kind)
                    accounted = end
                elif kind in _ACCOUNTED:
                    replies.forwarded(kinds(data, accounted, pos + 1))
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

    def _inspect(self, kind: int, data: bytes, pos: int, end: int) -> Look | Rewritten | Job:
        """What is to be done with the message `data[pos:end]`, which may not have arrived whole."""
        inspector = _INSPECTORS.get(kind)
        if inspector is None or (self.backend.replies.skipping and kind != _QUERY):
            return Look.PASS
        if end > len(data):
            look = self._look_at_part(kind, data, pos, end)
            if look is not None:
                return look
        return inspector(self, data[pos:end])

    def _look_at_part(self, kind: int, data: bytes, pos: int, end: int) -> Look:
        """Whether a message that is not whole is waited for. A long one is not, unless it is surely ours."""
        arrived = len(data) - pos
        self._need = end - pos
        if kind != _BIND:
            return Look.MORE if end - pos <= INSPECTION_LIMIT else Look.PASS
        name = codec.statement_of_bind(data, pos)
        if name is None:
            self._need = arrived + 1
            return Look.MORE if arrived < BACKLOG_LIMIT else Look.PASS
        return Look.MORE if name in self._specials else Look.PASS

    @property
    def _specials(self) -> dict[bytes, Special]:
        return {} if self._translator is None else self._translator.specials

    def _examination(self, message: bytes, text: bytes) -> tuple[str, Examination] | None:
        """What a statement's text holds for us; its settings are taken over."""
        watch = self._translator is not None and self._translator.has_settings
        if not (may_hold_nl(message) or watch) or not holds_nl_word(text, watch_resets=watch):
            return None
        decoded = decode(text, self.backend.encoding)
        found = examine(
            decoded, standard_strings=self.backend.standard_strings, max_chars=self._limits.question_chars
        )
        if found.changes:
            self._translating.apply(found.changes)
            self.backend.watching = True
            self._watch()
        return (decoded, found) if found.findings else None

    def _inspect_query(self, message: bytes) -> Look | Rewritten | Job:
        if b"" in self._specials:
            # A simple query destroys the unnamed statement whatever becomes of it (docs, 54.2.3).
            self._specials.pop(b"")
            self._watch()
        found = self._examination(message, codec.decode_query(message))
        return Look.PASS if found is None else self._translating.query(*found, self._situation)

    def _inspect_parse(self, message: bytes) -> Look | Rewritten | Job:
        parse = codec.decode_parse(message)
        if parse is None:
            return Look.PASS
        found = self._examination(message, parse.text)
        if found is not None:
            return self._translating.parse(parse, *found, self._situation)
        return self._redefined(message, parse.name)

    def _redefined(self, message: bytes, name: bytes) -> Look | Rewritten:
        change = self._translator.define(name, None) if self._translator is not None else None
        return Look.PASS if change is None else Rewritten(message, Mark(change=change))

    def _inspect_bind(self, message: bytes) -> Look | Rewritten | Job:
        name = codec.statement_of_bind(message, 0)
        special = None if name is None else self._specials.get(name)
        bind = None if special is None else codec.decode_bind(message)
        if special is None or bind is None:
            return Look.PASS
        return self._translating.bind(bind, special, self._situation)

    def _inspect_describe(self, message: bytes) -> Look | Rewritten | Job:
        target = codec.decode_target(message)
        special = self._specials.get(target.name) if target.kind == b"S" else None
        if special is None or not special.hidden:
            return Look.PASS
        return Rewritten(message, Mark(strip_parameter=True))

    def _inspect_close(self, message: bytes) -> Look | Rewritten | Job:
        target = codec.decode_target(message)
        return self._redefined(message, target.name) if target.kind == b"S" else Look.PASS

    # -- translation

    @property
    def _translating(self) -> Translator:
        if self._translator is None:
            startup = self._started
            user = startup.parameter("user") or ""
            asker = Asker(user, startup.parameter("database") or user)
            values = settings.from_startup(startup)
            self._translator = Translator(asker, values, max_chars=self._limits.question_chars)
        return self._translator

    @property
    def _situation(self) -> Situation:
        replies = self.backend.replies
        return Situation(
            failed=replies.in_failed_transaction,
            in_transaction=replies.status == Status.OPEN,
            standard_strings=self.backend.standard_strings,
            encoding=self.backend.encoding,
        )

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
        translator = self._translating
        for token, error in translator.expected.items():
            self.backend.expect_error(token, error)
        translator.expected.clear()
        self._report(out)
        self.backend.replies.forwarded(bytes([kind]), rewritten.mark)
        out.append(ToUpstream(rewritten.message))
        self._watch()

    def _report(self, out: list[Command]) -> None:
        translator = self._translating
        out += [StatementSeen(kind) for kind in translator.seen]
        out += [StatementFailed(error) for error in translator.errors]
        translator.seen.clear()
        translator.errors.clear()

    def _watch(self) -> None:
        translator = self._translator
        self._watchful = translator is not None and (bool(translator.specials) or translator.has_settings)

    def answered(self, reply: EngineReply) -> list[Command]:
        """The engine's reply to the last `Consult`."""
        out: list[Command] = []
        self._move(Event.ANSWERED)
        self._step(reply, out)
        self._process_inbox(out)
        return out

    def cancelled(self) -> tuple[bool, list[Command]]:
        """The client wants its running statement cancelled.

        Returns whether the server has to be told, and what else is to be done. Where only the engine is awaited
        the server is left alone, lest the request meet a later statement.
        """
        replies = self.backend.replies
        if self.phase is not Phase.CONSULTING or replies.waiting_for_server:
            return True, []
        error = CancelledError("canceling statement due to user request").reply()
        return replies.has_open_segment, [AbortConsult(), *self.answered(error)]

    _HANDLERS: ClassVar[dict[Phase, Callable[[Session, bytes, list[Command]], int]]] = {
        Phase.STARTUP: _first_packets,
        Phase.AUTHENTICATING: _authentication,
        Phase.RELAYING: _messages,
    }

    def _move(self, event: Event) -> None:
        self.phase = TRANSITIONS[self.phase, event]


_INSPECTORS: dict[int, Callable[[Session, bytes], Look | Rewritten | Job]] = {
    _QUERY: Session._inspect_query,
    _PARSE: Session._inspect_parse,
    _BIND: Session._inspect_bind,
    _DESCRIBE: Session._inspect_describe,
    _CLOSE: Session._inspect_close,
}
