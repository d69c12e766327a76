"""One client's session, without I/O: bytes in, commands out. Owns its phase and the client's half of the stream.

The phases are in `session_phases`, the server's half in `backend`, loans in `loan`, NL in `translator`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from engine.values.messages import ErrorReply
from proxy.protocol import codec, fast
from proxy.protocol.codec import Startup
from proxy.protocol.commands import (
    AbortConsult,
    Close,
    Command,
    Consult,
    Dial,
    EngineReply,
    KeyKnown,
    StatementFailed,
    StatementSeen,
    ToClient,
    ToUpstream,
)
from proxy.protocol.fast import hop
from proxy.protocol.framing import (
    FRONTEND_LIMITS,
    HEADER_SIZE,
    RESPONSE,
    ProtocolViolationError,
    frontend_length,
    kinds,
    passes,
    responses,
    startup_length,
    unexpected_response,
)
from proxy.protocol.inspection import InspectionOutcome, Inspector
from proxy.protocol.interruptions import Interruptible
from proxy.protocol.nl.persons import NOBODY_ELSE, BehalfRules
from proxy.protocol.passed import Passed
from proxy.protocol.replacements import Job, Rewritten, Told
from proxy.protocol.replies import RelayState, TransactionStatus
from proxy.protocol.session_phases import HOLDING, TRANSITIONS, Event, Phase

BACKLOG_LIMIT = 1 << 16
"""Bytes of a client that are held back during a translation before the driver should stop reading."""

_QUERY = ord("Q")
_SYNC = ord("S")
_TERMINATE = ord("X")
_PLAIN_TABLE = passes(FRONTEND_LIMITS, b"QPSFcf")
_SPECIAL_TABLE = passes(FRONTEND_LIMITS, b"QPSFcfBDCE")


class Session(Interruptible):
    """The state machine of one client connection."""

    __slots__ = (
        "_account",
        "_inbox",
        "_inspector",
        "_job",
        "_key_reported",
        "_need",
        "_plain",
        "_rest",
        "_settings",
    )

    def __init__(self, question_chars: int, seconds: float, rules: BehalfRules = NOBODY_ELSE) -> None:
        """`question_chars`: characters of the longest question. `seconds`: what `nl.timeout` is by itself."""
        self._settings = question_chars, seconds, rules
        super().__init__()
        self._inspector: Inspector | None = None
        self._plain = False
        self._inbox = bytearray()
        self._need = 0
        self._rest = 0
        self._job: tuple[int, Job] | None = None
        self._key_reported = False
        self._account = self.backend.replies.forwarded_boundary

    # -- the plain path

    def relay_frontend(self, data: bytes) -> bool:
        """Takes in a client's chunk of whole messages, none for us; False, and nothing done, for any other."""
        if not self._plain:
            return False
        boundary = fast.frontend(data)
        if not boundary:
            return False
        self._account(boundary)
        return True

    @property
    def relay_state(self) -> RelayState | None:
        """The state to hand to another relay of plain chunks; None where the next chunks need the session."""
        return self.backend.relay_state if self._plain else None

    # -- the client's bytes

    @property
    def at_rest(self) -> bool:
        """Whether nothing is under way and no transaction is open: the session can end without a loss."""
        replies = self.backend.replies
        under_way = self._inbox or self._rest or replies.waiting_for_server or replies.has_open_segment
        return self.phase is Phase.RELAYING and replies.status == TransactionStatus.IDLE and not under_way

    @property
    def under_way(self) -> bool:
        """Whether the client is owed a reply to what it has sent whole."""
        replies = self.backend.replies
        waits = self.phase in (Phase.CONSULTING, Phase.SETTLING)
        return waits or (self.phase is Phase.RELAYING and replies.waiting_for_server and not replies.copy_in)

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
        self._settle(out)
        return out

    def _settle(self, out: list[Command]) -> None:
        """Starts and stops clocks; notes whether the next chunk starts at a boundary and needs no closer look."""
        self._set_clock(out)
        self._plain = (
            self.phase is Phase.RELAYING
            and not self._inbox
            and self._rest == 0
            and self._inspector is not None
            and not self._inspector.tracks_nl_state
        )

    def _process_inbox(self, out: list[Command]) -> None:
        if len(self._inbox) < self._need or self.phase in HOLDING:
            return
        data = bytes(self._inbox)
        self._inbox.clear()
        self._process(data, out)

    def _process(self, data: bytes, out: list[Command]) -> None:
        """Takes in bytes that follow those of the last call; keeps those that cannot be handled yet."""
        self._need = 0
        try:
            before = None
            while data and before is not self.phase and self.phase not in HOLDING:
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

    def _first_packet(self, data: bytes, out: list[Command]) -> int:
        """Takes in the startup packet; encryption and cancel requests are handled before the session."""
        length = startup_length(data)
        if length is None or length > len(data):
            return 0
        startup = codec.decode_first(data[:length])
        if not isinstance(startup, Startup):
            raise ProtocolViolationError("expected a startup packet")
        self._move(Event.STARTED)
        self._inspector = Inspector(startup, self.backend, *self._settings)
        self.backend.observe_with(self._inspector)
        out.append(Dial(startup))
        return length

    def dialled(self) -> list[Command]:
        """The server is connected."""
        self._move(Event.DIALLED)
        # The server opens with a cycle of its own, which ends with ReadyForQuery as every other.
        self.backend.replies.forwarded_boundary(_SYNC)
        out: list[Command] = [ToUpstream(self._inspecting.startup.packet)]
        self._process_inbox(out)
        self._settle(out)
        return out

    def dial_failed(self, error: ErrorReply) -> list[Command]:
        """There is no upstream connection."""
        self._move(Event.DIAL_FAILED)
        return self.end(error)

    def end(self, error: ErrorReply) -> list[Command]:
        """Ends the session with an error, wherever it stands."""
        out: list[Command] = []
        self.phase = Phase.CLOSED
        self._end(error, out)
        return out

    @property
    def _inspecting(self) -> Inspector:
        if self._inspector is None:
            raise AssertionError("the session has not started")
        return self._inspector

    @property
    def _unnamed(self) -> bytes:
        return self._inspecting.translator.unnamed

    def _authentication(self, data: bytes, out: list[Command]) -> int:
        """Passes the client's authentication messages; messages after them wait for the server's AuthenticationOk.

        Terminate ends the login at once, and so does another message where the server waits for a response.
        """
        end = responses(data)
        if end:
            self.backend.challenges -= len(kinds(data, 0, end))
            out.append(ToUpstream(data[:end]))
        if end < len(data) and data[end] != RESPONSE:
            if data[end] == _TERMINATE:
                raise ProtocolViolationError("the client left during its login")
            if self.backend.challenges > 0 or data[end] not in FRONTEND_LIMITS:
                raise unexpected_response()
        return end

    # -- the server's bytes

    def receive_backend(self, data: bytes) -> list[Command]:
        """Takes in a server's chunk."""
        return self.received(data) if self.loan is None else self.loan.receive_backend(data)

    def received(self, data: bytes) -> list[Command]:
        """Takes in the server's bytes for the client, not for a borrower."""
        pieces = self.backend.receive(data)
        out: list[Command] = [ToClient(b"".join(pieces))] if pieces else []
        out += self.backend.delivered()
        if self.backend.key is not None and not self._key_reported:
            self._key_reported = True
            out.append(KeyKnown(self.backend.key))
        if self.phase is Phase.AUTHENTICATING:
            if self.backend.authenticated:
                self._move(Event.AUTHENTICATED)
            self._process_inbox(out)
        elif self.phase is Phase.CONSULTING and self.backend.replies.copy_in and self._job is not None:
            self._break_off(self._job[0], out)
        self._go_on(out)
        self._settle(out)
        return out

    # -- holding the client's messages

    def _hold(self, out: list[Command]) -> None:
        """The next message waits until the server has answered all before it."""
        self._move(Event.HELD)
        if self.backend.replies.has_open_segment:
            out.append(ToUpstream(codec.FLUSH))

    def _go_on(self, out: list[Command]) -> None:
        """Ends the hold where the server has answered, and no cancelling can meet what comes next."""
        if self.phase is Phase.SETTLING and self.backend.replies.settled and not self._cancelling:
            self._move(Event.SETTLED)
            self._process_inbox(out)

    def _break_off(self, kind: int, out: list[Command]) -> None:
        """The server reads COPY data: whatever the statement is, it is a breach of the protocol, told at once."""
        self._job = None
        out.append(AbortConsult())
        self._move(Event.ANSWERED)
        self.backend.replies.forwarded(bytes([kind]))
        out.append(ToUpstream(codec.message(bytes([kind]), b"\0\0\0\0")))
        self._process_inbox(out)

    # -- messages after authentication

    def _messages(self, data: bytes, out: list[Command]) -> int:
        """Relays whole and partial messages up to the first that has to wait. Returns the bytes consumed."""
        inspector = self._inspecting
        size, pos, held = len(data), self._rest, False
        passed = Passed(self.backend.replies, data, pos)
        while self.phase is Phase.RELAYING:
            pos = hop(data, pos, _SPECIAL_TABLE if inspector.tracks_nl_state else _PLAIN_TABLE)
            if pos + HEADER_SIZE > size:
                break
            kind, end = data[pos], pos + 1 + frontend_length(data, pos)
            action = inspector.inspect(kind, data, pos, end)
            if action in (InspectionOutcome.MORE, InspectionOutcome.HOLD):
                held = action is InspectionOutcome.HOLD
                self._need = 0 if held else inspector.need
                break
            if action is InspectionOutcome.PASS:
                passed.account(kind, pos, end)
            else:
                passed.send(pos, end, out)
                if action is not InspectionOutcome.DROP:
                    self._emit_or_ask(kind, action, out)
            pos = end
        consumed = min(pos, size)
        passed.send(consumed, consumed, out)
        if held:
            self._hold(out)
        self._rest = pos - consumed
        return consumed

    # -- translation

    def _emit_or_ask(self, kind: int, action: Rewritten | Job, out: list[Command]) -> None:
        if isinstance(action, Rewritten):
            self._emit(kind, action, out)
        else:
            self._job = (kind, action)
            self._step(None, out)

    def _step(self, reply: EngineReply | None, out: list[Command]) -> None:
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

    def _emit(self, kind: int, rewritten: Rewritten | Told, out: list[Command]) -> None:
        translator = self._inspecting.translator
        self._report(out)
        if isinstance(rewritten, Told):
            self._tell(kind, rewritten.error, out)
            return
        for expected in translator.expected:
            self.backend.expect_error(expected)
            out.append(StatementFailed(expected.error))
        translator.expected.clear()
        replies = self.backend.replies
        self.backend.begin_count()
        timed = rewritten.mark is not None and rewritten.mark.allowance is not None and not replies.skipping
        if timed and replies.has_open_segment:
            # The server keeps its replies to what came before until it is told to send them, or has done this too.
            out.append(ToUpstream(codec.FLUSH))
        replies.forwarded(bytes([kind]), rewritten.mark)
        out.append(ToUpstream(rewritten.message))
        if timed:
            # A cancelling may come: it must not meet what follows.
            self._hold(out)

    def _tell(self, kind: int, error: ErrorReply, out: list[Command]) -> None:
        """The client gets an error that the server knows nothing of; a Query's ReadyForQuery is that of a Sync."""
        out += [ToClient(codec.encode_error(error, self.backend.encoding)), StatementFailed(error)]
        if kind == _QUERY:
            self.backend.begin_count()
            self.backend.replies.forwarded(bytes([kind]))
            out.append(ToUpstream(codec.SYNC))
        else:
            self._inspecting.skipping = True

    def _report(self, out: list[Command]) -> None:
        statement_kinds = self._inspecting.translator.conversation.statement_kinds
        out += [StatementSeen(kind) for kind in statement_kinds]
        statement_kinds.clear()

    def answered(self, reply: EngineReply) -> list[Command]:
        """The engine's reply to the last `Consult`; it waits until a loan that is open has ended."""
        if self.loan is not None:
            self._late_reply = reply
            return self.loan.borrower_left()
        out: list[Command] = []
        self._move(Event.ANSWERED)
        self._step(reply, out)
        self._process_inbox(out)
        self._settle(out)
        return out

    _HANDLERS: ClassVar[dict[Phase, Callable[[Session, bytes, list[Command]], int]]] = {
        Phase.STARTUP: _first_packet,
        Phase.AUTHENTICATING: _authentication,
        Phase.RELAYING: _messages,
    }

    def _move(self, event: Event) -> None:
        self.phase = TRANSITIONS[self.phase, event]
