"""Looking at a client's message: pass, wait for more of it, or translate."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import ClassVar, Literal

from engine.values.errors import NLError, QuotaError, StatementTooLongError, UnsupportedError
from engine.values.messages import Asker, ErrorReply
from proxy.protocol import codec
from proxy.protocol.backend import Backend
from proxy.protocol.codec import Startup
from proxy.protocol.conversation import ChosenStatement, TranslationContext
from proxy.protocol.encoding import decode, unreadable
from proxy.protocol.framing import HEADER_SIZE, ProtocolViolationError
from proxy.protocol.nl import settings
from proxy.protocol.nl.classify import begins_with_nl, examine, holds_nl_word
from proxy.protocol.nl.persons import BehalfRules
from proxy.protocol.nl.statements import MOST_FINDINGS, Examination, Finding, Question, RefusedQuestion
from proxy.protocol.replacements import Job, ParameterStatement, PreparedTreatment, Rewritten
from proxy.protocol.replies import Allowance, DroppedMark, Mark, TransactionStatus
from proxy.protocol.scan import may_hold_nl
from proxy.protocol.translator import Translator

INSPECTION_LIMIT = 1 << 20
"""Length of a statement's message up to which its text is searched for NL; longer ones stream through."""

READING_LIMIT = 1 << 14
"""Bytes of a text that are read word by word, which holds up every client of the worker."""

_NAME_LIMIT = 1 << 16
"""Bytes of a Bind message in which the names of portal and statement should have come."""

_QUERY = ord("Q")
_BIND = ord("B")
_SYNC = ord("S")


class InspectionOutcome(Enum):
    """The outcome for a message that is not translated.

    Pass it, wait for more of it, hold it until the server has answered all that came before, or drop it.
    """

    PASS = auto()
    MORE = auto()
    HOLD = auto()
    DROP = auto()


class Inspector:
    """The inspection of one session's messages; `need`: bytes of a message that it waits for.

    `skipping`: the client was told an error that the server knows nothing of, and all up to its Sync is dropped.
    """

    __slots__ = (
        "_backend",
        "_question_chars",
        "_rules",
        "_seconds",
        "_translator",
        "need",
        "skipping",
        "startup",
    )

    def __init__(
        self, startup: Startup, backend: Backend, question_chars: int, seconds: float, rules: BehalfRules
    ) -> None:
        self.startup = startup
        self._backend = backend
        self._question_chars = question_chars
        self._rules = rules
        self._seconds = seconds
        self._translator: Translator | None = None
        self.need = 0
        self.skipping = False

    @property
    def tracks_nl_state(self) -> bool:
        """Whether messages need a look that pass unread in a session that has never used NL."""
        translator = self._translator
        return translator is not None and (
            self.skipping
            or bool(translator.nl_prepared or translator.portals)
            or translator.conversation.has_settings
        )

    @property
    def translator(self) -> Translator:
        """The session's translator, made when it is first needed: most sessions never do."""
        if self._translator is None:
            user = self.startup.parameter("user") or ""
            asker = Asker(user, self.startup.parameter("database") or user)
            values = settings.from_startup(self.startup)
            self._translator = Translator(
                asker, values, self._rules, max_chars=self._question_chars, seconds=self._seconds
            )
        return self._translator

    def undo(self, dropped: DroppedMark) -> None:
        """A marked message was not carried out."""
        if dropped.mark.change is not None:
            self.translator.undo(dropped.mark.change, failed=dropped.failed)

    def transaction_ended(self) -> None:
        """The server is idle again."""
        if self._translator is not None:
            self._translator.conversation.transaction_ended()
            if self._backend.replies.settled:
                self._translator.portals.clear()

    def inspect(self, kind: int, data: bytes, pos: int, end: int) -> InspectionOutcome | Rewritten | Job:
        """The outcome for the message `data[pos:end]`, which may not have arrived whole."""
        if self.skipping and kind != _SYNC:
            return self._skip(end - pos, whole=end <= len(data))
        self.skipping = False
        inspector = self._INSPECTIONS.get(kind)
        replies = self._backend.replies
        if inspector is None or replies.skipping or replies.copy_in:
            return InspectionOutcome.PASS
        if end > len(data):
            outcome = self._inspect_partial(kind, data, pos, end)
            if outcome is not None:
                return outcome
        return inspector(self, data[pos:end])

    def _skip(self, size: int, *, whole: bool) -> InspectionOutcome:
        """As the server does after an error in an extended query."""
        if size > INSPECTION_LIMIT:
            raise ProtocolViolationError("a message behind one that failed is too long to be skipped")
        self.need = size
        return InspectionOutcome.DROP if whole else InspectionOutcome.MORE

    def _inspect_partial(self, kind: int, data: bytes, pos: int, end: int) -> InspectionOutcome:
        """Whether to wait for the rest of a message. A long one passes, unless it is certain to be translated."""
        arrived = len(data) - pos
        self.need = end - pos
        if kind != _BIND:
            if end - pos <= INSPECTION_LIMIT:
                return InspectionOutcome.MORE
            self._unnamed_ends(kind, data[pos + HEADER_SIZE : pos + HEADER_SIZE + 1])
            return InspectionOutcome.PASS
        name = codec.statement_of_bind(data, pos)
        if name is None:
            self.need = arrived + 1
            return InspectionOutcome.MORE if arrived < _NAME_LIMIT else InspectionOutcome.PASS
        if name in self._nl_prepared:
            return InspectionOutcome.MORE
        self._portals.pop(codec.portal_of_bind(data, pos), None)
        return InspectionOutcome.PASS

    @property
    def _portals(self) -> dict[bytes, Allowance]:
        return {} if self._translator is None else self._translator.portals

    @property
    def _nl_prepared(self) -> dict[bytes, PreparedTreatment]:
        return {} if self._translator is None else self._translator.nl_prepared

    def _examination(
        self, message: bytes, text: bytes
    ) -> tuple[str, Examination] | Literal[InspectionOutcome.HOLD] | None:
        """A statement's decoded text and its findings, None without any; applies its settings.

        How the server will read it has to be known: a setting that it has not reported may change what a backslash and
        what a byte beyond ASCII mean, and nothing else.
        """
        watch = self._translator is not None and self._translator.conversation.has_settings
        if not (may_hold_nl(message) or watch) or not holds_nl_word(text, watch_resets=watch):
            return None
        if len(text) > READING_LIMIT:
            return _LONG if begins_with_nl(_ascii_start(text[:READING_LIMIT]).decode()) else None
        doubtful = b"\\" in text or not text.isascii()
        if doubtful and not self._backend.replies.settled:
            return InspectionOutcome.HOLD
        return self._read(text, doubtful=doubtful)

    def _read(self, text: bytes, *, doubtful: bool) -> tuple[str, Examination] | None:
        """As `_examination`; `doubtful`: a setting may change how it is read."""
        readable = bool(self._backend.encoding) or text.isascii()
        decoded = decode(text if readable else _ascii_start(text), self._backend.encoding)
        found = examine(
            decoded, standard_strings=self._backend.standard_strings, max_chars=self._question_chars
        )
        if found.findings and not readable:
            return _refused(found, unreadable())
        if found.findings and doubtful and not self._backend.replies.reading_is_certain:
            return _refused(found, _UNCERTAIN)
        if len(found.findings) > MOST_FINDINGS:
            return _refused(found, _TOO_MANY)
        if found.changes:
            problem = self.translator.conversation.refusal(found.changes)
            if problem is not None:
                return _refused(found, problem)
            self.translator.conversation.apply(found.changes)
            self._backend.watching = True
        return (decoded, found) if found.findings else None

    def _unnamed_ends(self, kind: int, name: bytes) -> None:
        """A Query, or a Parse without a name, destroys the unnamed ones, even if it fails (docs, 54.2.3)."""
        if kind == _QUERY:
            self._portals.pop(b"", None)
        if kind == _QUERY or name == b"\0":
            self._nl_prepared.pop(b"", None)

    def _inspect_query(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        self._unnamed_ends(_QUERY, b"")
        found = self._examination(message, codec.decode_query(message))
        if found is InspectionOutcome.HOLD:
            return found
        return InspectionOutcome.PASS if found is None else self.translator.query(*found, self._context)

    def _inspect_parse(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        parse = codec.decode_parse(message)
        if parse is None:
            return InspectionOutcome.PASS
        found = self._examination(message, parse.text)
        if found is InspectionOutcome.HOLD:
            return found
        if found is not None:
            return self.translator.parse(parse, *found, self._context)
        return self._redefined(message, parse.name)

    def _redefined(self, message: bytes, name: bytes) -> InspectionOutcome | Rewritten:
        change = self._translator.define(name, None) if self._translator is not None else None
        return InspectionOutcome.PASS if change is None else Rewritten(message, Mark(change=change))

    def _inspect_bind(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        name = codec.statement_of_bind(message, 0)
        prepared = None if name is None else self._nl_prepared.get(name)
        bind = None if prepared is None else codec.decode_bind(message)
        self._portals.pop(codec.portal_of_bind(message, 0), None)
        if prepared is None or bind is None:
            return InspectionOutcome.PASS
        if isinstance(prepared, ChosenStatement) and prepared.timed:
            # So that the end of the transaction, and of its portals, is noticed.
            self._backend.watching = True
        return self.translator.bind(bind, prepared, self._context)

    def _inspect_execute(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        allowance = self._portals.get(codec.portal_of_execute(message))
        if allowance is None:
            return InspectionOutcome.PASS
        return Rewritten(message, Mark(allowance=allowance))

    def _inspect_describe(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        target = codec.decode_target(message)
        prepared = self._nl_prepared.get(target.name) if target.kind == b"S" else None
        if not isinstance(prepared, ParameterStatement) or not prepared.hidden:
            return InspectionOutcome.PASS
        return Rewritten(message, Mark(strip_parameter=True))

    def _inspect_close(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        target = codec.decode_target(message)
        if target.kind == b"P":
            self._portals.pop(target.name, None)
        return self._redefined(message, target.name) if target.kind == b"S" else InspectionOutcome.PASS

    def _inspect_sync(self, _: bytes) -> InspectionOutcome:
        if self._translator is not None:
            self._translator.fresh = None
        return InspectionOutcome.PASS

    @property
    def _context(self) -> TranslationContext:
        replies = self._backend.replies
        return TranslationContext(
            failed=replies.in_failed_transaction,
            in_transaction=replies.status == TransactionStatus.OPEN,
            idle=lambda: replies.settled,
            standard_strings=self._backend.standard_strings,
            encoding=self._backend.encoding,
        )

    _INSPECTIONS: ClassVar[dict[int, Callable[[Inspector, bytes], InspectionOutcome | Rewritten | Job]]] = {
        _QUERY: _inspect_query,
        ord("P"): _inspect_parse,
        _BIND: _inspect_bind,
        ord("D"): _inspect_describe,
        ord("C"): _inspect_close,
        ord("E"): _inspect_execute,
        _SYNC: _inspect_sync,
    }


_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_TOO_MANY = QuotaError(
    f"a message holds more than {MOST_FINDINGS} NL statements", hint="Send them in several messages."
)
_UNCERTAIN = UnsupportedError(
    "how this NL statement is to be read depends on what came before it in its pipeline",
    hint="Send Sync before it, or leave out the backslash and whatever is not ASCII.",
)


def _ascii_start(text: bytes) -> bytes:
    """What every encoding reads alike: up to the first byte beyond ASCII."""
    beyond = _BEYOND_ASCII.search(text)
    return text if beyond is None else text[: beyond.start()]


def _refused(found: Examination, error: NLError) -> tuple[str, Examination]:
    """A text in place of one that holds NL statements, which nobody is asked."""
    asked = any(isinstance(finding.content, Question) for finding in found.findings)
    reply = error.reply()
    refusal = (RefusedQuestion if asked else ErrorReply)(
        reply.sqlstate, reply.message, reply.detail, reply.hint
    )
    return "", Examination((Finding(0, 0, refusal, first=True),), (), found.statements, found.parameters)


_TOO_LONG = StatementTooLongError(
    f"a message that begins with NL is longer than {READING_LIMIT >> 10} KiB",
    hint="Send its statements one by one.",
).reply()
_LONG = (
    "",
    Examination(
        (
            Finding(
                0, 0, RefusedQuestion(_TOO_LONG.sqlstate, _TOO_LONG.message, None, _TOO_LONG.hint), first=True
            ),
        ),
        (),
        1,
        0,
    ),
)
