"""The pending replies of the server: an exact account of protocol cycles. Never looks at a message's body.

A segment is what is forwarded up to a Query, FunctionCall or Sync, which the server answers with ReadyForQuery. One
that arrived closed and unmarked is queued as its boundary alone; any other message by message, and matched reply by
reply (`exact`). The rules follow `PostgresMain` and `CopyGetData`: after an error in an extended query the server skips
all until Sync; while it reads COPY data it ignores Sync and Flush; outside of COPY it ignores CopyData, CopyDone and
CopyFail.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto

MARKED = 0x80
"""Bit set in a queued kind that has a mark."""

_SYNC = ord("S")
_EXECUTE = ord("E")
_BOUNDARIES = frozenset(b"QSF")
_PLAIN_BOUNDARIES = frozenset(b"QS")
_MARKED_BOUNDARIES = frozenset(kind | MARKED for kind in _BOUNDARIES)
_ALL_BOUNDARIES = _BOUNDARIES | _MARKED_BOUNDARIES
_HARMLESS = frozenset(b"PBDC")
_COPY_ENDS = frozenset(b"cf")
_BEGINS = frozenset({b"BEGIN", b"START TRANSACTION"})
_ENDS = (b"COMMIT", b"ROLLBACK", b"PREPARE")
"""Command tags, of which ROLLBACK TO SAVEPOINT has the second too."""

_COMPLETES: dict[int, frozenset[int]] = {
    ord("P"): frozenset(b"1"),
    ord("B"): frozenset(b"2"),
    ord("C"): frozenset(b"3"),
    ord("D"): frozenset(b"Tn"),
    _EXECUTE: frozenset(b"CIs"),
}
"""Kind of an extended-query message → the replies that complete it."""


class TransactionStatus(IntEnum):
    """The transaction status that ReadyForQuery reports."""

    IDLE = ord("I")
    OPEN = ord("T")
    FAILED = ord("E")


@dataclass(frozen=True, slots=True)
class StatementChange:
    """A prepared statement gains or loses its special treatment (`before`, `after` are opaque here)."""

    name: bytes
    before: object | None
    after: object | None


@dataclass(eq=False, slots=True)
class Allowance:
    """The `left` seconds of one statement or portal; `overdue`: they are over, and the gateway has cancelled it."""

    seconds: float
    left: float
    overdue: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """The change to the reply of the marked message.

    `notice` goes out before the completing reply. `strip_parameter` hides the last parameter of the
    ParameterDescription. `change` is undone where the message fails or is skipped. `allowance`: what it may take.
    """

    notice: bytes = b""
    strip_parameter: bool = False
    change: StatementChange | None = None
    allowance: Allowance | None = None


@dataclass(frozen=True, slots=True)
class DroppedMark:
    """A marked message that was not carried out: it failed itself, or was skipped after another's failure."""

    mark: Mark
    failed: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """The account of another relay, which passes only Query and Sync, and replies that change no state.

    `cycles` boundaries were answered, `transactions` of them outside of a transaction, the last with `status`;
    `pending` are the kinds of those that were not; `rest` bytes of the server's last message are to come.
    """

    cycles: int
    transactions: int
    status: int
    pending: bytes
    rest: int


@dataclass(frozen=True, slots=True)
class RelayState:
    """The state that another relay goes on from: bytes of a message still to come, boundaries not yet answered."""

    rest: int
    pending: bytes


class SegmentEffect(Enum):
    """The effect of the commands completed in an open segment, as far as a Sync would commit it."""

    NONE = auto()
    BEGUN = auto()
    """A transaction block was begun before anything else, and is open."""
    OTHER = auto()
    ENDED = auto()
    """A transaction block may have ended."""


class Replies:
    """The account of one session."""

    __slots__ = (
        "_copy_in",
        "_effect",
        "_marks",
        "_pending",
        "_skipping",
        "cycles",
        "exact",
        "metered",
        "status",
        "transactions",
    )

    def __init__(self) -> None:
        self._pending = bytearray()
        self._marks: list[Mark] = []
        self._skipping = False
        self._copy_in = False
        self._effect = SegmentEffect.NONE
        self.exact = False
        """Whether every reply has to be matched now, not ReadyForQuery alone."""
        self.metered = False
        """Whether it has to be, since the answer to something forwarded is counted."""
        self.status = int(TransactionStatus.IDLE)
        self.cycles = 0
        """ReadyForQuery messages seen."""
        self.transactions = 0
        """Those of them that ended a transaction."""

    @property
    def relayable_pending(self) -> bytes | None:
        """The boundaries that the server has not answered; None where another relay could not keep the account."""
        if self.exact or self._skipping or self._copy_in or not _PLAIN_BOUNDARIES.issuperset(self._pending):
            return None
        return bytes(self._pending)

    def relayed(self, tally: Tally) -> None:
        """Another relay has kept the account since `relayable_pending`, or since the last tally."""
        self._pending[:] = tally.pending
        self.cycles += tally.cycles
        self.transactions += tally.transactions
        if tally.cycles:
            self.status = tally.status

    # -- what the client sent

    def forwarded_boundary(self, kind: int) -> None:
        """A boundary went out. Only before a Sync may messages of its segment stay unaccounted for."""
        if self._skipping:
            if kind != _SYNC:
                return
            self._skipping = False
        elif self._copy_in and kind == _SYNC:
            return
        self._effect = SegmentEffect.NONE
        self._pending.append(kind)

    def forwarded(self, kinds: bytes, mark: Mark | None = None) -> None:
        """Messages went out one after another; a `mark` belongs to the last, and must not be a Sync's."""
        if self._skipping and not _BOUNDARIES.intersection(kinds) and mark is None:
            return
        for kind in kinds:
            self._forwarded_one(kind)
        if mark is not None and self._pending and not self._skipping:
            self._pending[-1] |= MARKED
            self._marks.append(mark)
        self._settle()

    def _forwarded_one(self, kind: int) -> None:
        if kind in _BOUNDARIES:
            self.forwarded_boundary(kind)
        elif kind in _COPY_ENDS:
            if self._copy_in:
                self._copy_in = False
            elif self._pending:
                self._pending.append(kind)
        elif kind in _COMPLETES and not self._skipping:
            self._pending.append(kind)

    @property
    def skipping(self) -> bool:
        """Whether the server is known to skip everything until the next Sync."""
        return self._skipping

    @property
    def copy_in(self) -> bool:
        """Whether the server reads COPY data, and takes any statement for a breach of the protocol."""
        return self._copy_in

    @property
    def settled(self) -> bool:
        """Whether the server owes nothing for what was forwarded, or reads COPY data."""
        return self._copy_in or not self._pending

    @property
    def reading_is_certain(self) -> bool:
        """Whether each setting that was changed has been reported: that comes with ReadyForQuery alone (from 14 on)."""
        return self._effect in (SegmentEffect.NONE, SegmentEffect.BEGUN)

    @property
    def allowance(self) -> Allowance | None:
        """Of the message that the server is at; None where it has none."""
        mark = self.head_mark()
        return None if mark is None else mark.allowance

    @property
    def cycles_forwarded(self) -> int:
        """The number of the cycle that the next forwarded message belongs to, from 0."""
        return self.cycles + sum(kind in _ALL_BOUNDARIES for kind in self._pending)

    @property
    def waiting_for_server(self) -> bool:
        """Whether the server still owes a ReadyForQuery for what was forwarded."""
        return any(kind in _ALL_BOUNDARIES for kind in self._pending)

    @property
    def has_open_segment(self) -> bool:
        """Whether messages went out that the server answers only with those still to come."""
        return bool(self._pending) and self._pending[-1] not in _ALL_BOUNDARIES

    @property
    def in_failed_transaction(self) -> bool:
        """Whether the next message is certain to meet a failed transaction: nothing before it can end it."""
        harmless = (kind & ~MARKED in _HARMLESS for kind in self._pending)
        return self.status == TransactionStatus.FAILED and all(harmless)

    # -- what the server sent

    def head_mark(self) -> Mark | None:
        """The mark of the message that the server is answering now."""
        return self._marks[0] if self._pending and self._pending[0] & MARKED else None

    def completed(self, kind: int, tag: bytes = b"") -> Mark | None:
        """The mark that a reply of `kind`, arrived in exact mode, completes; `tag`: of a CommandComplete."""
        head = self._pending[0] & ~MARKED if self._pending else 0
        if kind not in _COMPLETES.get(head, ()):
            return None
        if head == _EXECUTE:
            self._executed(tag)
        mark = self._pop()
        self._settle()
        return mark

    def _executed(self, tag: bytes) -> None:
        if tag in _BEGINS and self._effect is SegmentEffect.NONE:
            self._effect = SegmentEffect.BEGUN
        elif tag.startswith(_ENDS):
            self._effect = SegmentEffect.ENDED
        elif self._effect is SegmentEffect.NONE:
            self._effect = SegmentEffect.OTHER

    @property
    def sync_is_harmless(self) -> bool:
        """Whether a Sync sent now, when all has been answered, would commit nothing."""
        within = self.status == TransactionStatus.OPEN and self._effect is not SegmentEffect.ENDED
        return within or self._effect in (SegmentEffect.NONE, SegmentEffect.BEGUN)

    def synced(self, status: int) -> None:
        """A Sync that the client did not send has been answered with `status`."""
        self._effect = SegmentEffect.NONE
        self.status = status

    def failed(self) -> list[DroppedMark]:
        """An ErrorResponse arrived. Returns the marked messages that will not be carried out."""
        self._copy_in = False
        if not self.exact or self._pending[0] & ~MARKED not in _COMPLETES:
            return []
        dropped = self._drop(failed=True)
        while self._pending and self._pending[0] & ~MARKED != _SYNC:
            dropped += self._drop(failed=False)
        self._skipping = not self._pending
        self._settle()
        return dropped

    def ready(self, status: int) -> Mark | None:
        """ReadyForQuery arrived. Returns the mark of the boundary that it answers."""
        self.status = status
        self.cycles += 1
        if status == TransactionStatus.IDLE:
            self.transactions += 1
        if len(self._pending) == 1 and not self.exact:
            self._pending.clear()
            return None
        mark = None
        while self._pending:
            boundary = self._pending[0] in _ALL_BOUNDARIES
            mark = self._pop()
            if boundary:
                break
        while self._pending and self._pending[0] in _COPY_ENDS:
            del self._pending[0]
        self._settle()
        return mark

    def copy_in_started(self) -> None:
        """CopyInResponse arrived: the server reads up to CopyDone or CopyFail and ignores Sync before it."""
        if not self._pending:
            return
        if self._pending[0] == _SYNC:
            # The segment was queued as its Sync alone. COPY runs in its last Execute, else the server would
            # meet another message and end the session.
            self._pending[0] = _EXECUTE
        while len(self._pending) > 1 and self._pending[1] == _SYNC:
            del self._pending[1]
        if len(self._pending) == 1:
            self._copy_in = True
        elif self._pending[1] in _COPY_ENDS:
            del self._pending[1]
        self._settle()

    # -- the queue

    def _pop(self) -> Mark | None:
        marked = self._pending[0] & MARKED
        del self._pending[0]
        return self._marks.pop(0) if marked else None

    def _drop(self, *, failed: bool) -> list[DroppedMark]:
        mark = self._pop()
        return [] if mark is None else [DroppedMark(mark, failed)]

    def _settle(self) -> None:
        timed = any(mark.allowance for mark in self._marks)
        self.exact = bool(self._pending) and (timed or self.metered or self._pending[0] not in _BOUNDARIES)
