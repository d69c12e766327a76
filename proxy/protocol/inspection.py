"""Looking at a client's message: pass, wait for more of it, or translate."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import ClassVar

from engine.types import Asker
from proxy.protocol import codec
from proxy.protocol.backend import Backend
from proxy.protocol.codec import Startup
from proxy.protocol.conversation import TranslationContext
from proxy.protocol.encoding import decode
from proxy.protocol.nl import settings
from proxy.protocol.nl.classify import examine, holds_nl_word
from proxy.protocol.nl.statements import Examination
from proxy.protocol.replies import DroppedMark, Mark, TransactionStatus
from proxy.protocol.scan import may_hold_nl
from proxy.protocol.translator import Job, ParameterStatement, PreparedTreatment, Rewritten, Translator

INSPECTION_LIMIT = 1 << 20
"""Length of a statement's message up to which its text is searched for NL; longer ones stream through."""

_NAME_LIMIT = 1 << 16
"""Bytes of a Bind message in which the names of portal and statement should have come."""

_QUERY = ord("Q")
_BIND = ord("B")


class InspectionOutcome(Enum):
    """The outcome for a message that is not translated: pass it, or wait for more of it."""

    PASS = auto()
    MORE = auto()


class Inspector:
    """The inspection of one session's messages; `need`: bytes of a message that it waits for."""

    __slots__ = ("_backend", "_question_chars", "_translator", "need", "startup")

    def __init__(self, startup: Startup, backend: Backend, question_chars: int) -> None:
        self.startup = startup
        self._backend = backend
        self._question_chars = question_chars
        self._translator: Translator | None = None
        self.need = 0

    @property
    def tracks_nl_state(self) -> bool:
        """Whether messages need a look that pass unread in a session that has never used NL."""
        translator = self._translator
        return translator is not None and (
            bool(translator.nl_prepared) or translator.conversation.has_settings
        )

    @property
    def translator(self) -> Translator:
        """The session's translator, made when it is first needed: most sessions never do."""
        if self._translator is None:
            user = self.startup.parameter("user") or ""
            asker = Asker(user, self.startup.parameter("database") or user)
            values = settings.from_startup(self.startup)
            self._translator = Translator(asker, values, max_chars=self._question_chars)
        return self._translator

    def undo(self, dropped: DroppedMark) -> None:
        """A marked message was not carried out."""
        if dropped.mark.change is not None:
            self.translator.undo(dropped.mark.change, failed=dropped.failed)

    def transaction_ended(self) -> None:
        """The server is idle again."""
        if self._translator is not None:
            self._translator.conversation.transaction_ended()

    def inspect(self, kind: int, data: bytes, pos: int, end: int) -> InspectionOutcome | Rewritten | Job:
        """The outcome for the message `data[pos:end]`, which may not have arrived whole."""
        inspector = self._INSPECTIONS.get(kind)
        if inspector is None or self._backend.replies.skipping:
            return InspectionOutcome.PASS
        if end > len(data):
            outcome = self._inspect_partial(kind, data, pos, end)
            if outcome is not None:
                return outcome
        return inspector(self, data[pos:end])

    def _inspect_partial(self, kind: int, data: bytes, pos: int, end: int) -> InspectionOutcome:
        """Whether to wait for the rest of a message. A long one passes, unless it is certain to be translated."""
        arrived = len(data) - pos
        self.need = end - pos
        if kind != _BIND:
            return InspectionOutcome.MORE if end - pos <= INSPECTION_LIMIT else InspectionOutcome.PASS
        name = codec.statement_of_bind(data, pos)
        if name is None:
            self.need = arrived + 1
            return InspectionOutcome.MORE if arrived < _NAME_LIMIT else InspectionOutcome.PASS
        return InspectionOutcome.MORE if name in self._nl_prepared else InspectionOutcome.PASS

    @property
    def _nl_prepared(self) -> dict[bytes, PreparedTreatment]:
        return {} if self._translator is None else self._translator.nl_prepared

    def _examination(self, message: bytes, text: bytes) -> tuple[str, Examination] | None:
        """A statement's decoded text and its findings, None without any; applies its settings."""
        watch = self._translator is not None and self._translator.conversation.has_settings
        if not (may_hold_nl(message) or watch) or not holds_nl_word(text, watch_resets=watch):
            return None
        decoded = decode(text, self._backend.encoding)
        found = examine(
            decoded, standard_strings=self._backend.standard_strings, max_chars=self._question_chars
        )
        if found.changes:
            self.translator.conversation.apply(found.changes)
            self._backend.watching = True
        return (decoded, found) if found.findings else None

    def _inspect_query(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        if b"" in self._nl_prepared:
            # A simple query destroys the unnamed statement, even if it fails (docs, 54.2.3).
            self._nl_prepared.pop(b"")
        found = self._examination(message, codec.decode_query(message))
        return InspectionOutcome.PASS if found is None else self.translator.query(*found, self._context)

    def _inspect_parse(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        parse = codec.decode_parse(message)
        if parse is None:
            return InspectionOutcome.PASS
        found = self._examination(message, parse.text)
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
        if prepared is None or bind is None:
            return InspectionOutcome.PASS
        return self.translator.bind(bind, prepared, self._context)

    def _inspect_describe(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        target = codec.decode_target(message)
        prepared = self._nl_prepared.get(target.name) if target.kind == b"S" else None
        if not isinstance(prepared, ParameterStatement) or not prepared.hidden:
            return InspectionOutcome.PASS
        return Rewritten(message, Mark(strip_parameter=True))

    def _inspect_close(self, message: bytes) -> InspectionOutcome | Rewritten | Job:
        target = codec.decode_target(message)
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
            standard_strings=self._backend.standard_strings,
            encoding=self._backend.encoding,
        )

    _INSPECTIONS: ClassVar[dict[int, Callable[[Inspector, bytes], InspectionOutcome | Rewritten | Job]]] = {
        _QUERY: _inspect_query,
        ord("P"): _inspect_parse,
        _BIND: _inspect_bind,
        ord("D"): _inspect_describe,
        ord("C"): _inspect_close,
        ord("S"): _inspect_sync,
    }
