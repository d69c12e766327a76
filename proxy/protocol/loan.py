"""The loan of a session's server to the engine, for the length of one transaction that is always rolled back.

Owns when the server may be lent (after it has answered, and not where the loan's Sync would end a transaction of the
client's), the borrower's messages, the frame around them (a transaction, or a savepoint in the client's), and the
restoration of the client's state.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.backend import Backend
from proxy.protocol.commands import CancelLent, Command, LoanEnded, ToBorrower, ToClient, ToUpstream
from proxy.protocol.framing import HEADER, HEADER_SIZE, LENGTH_SIZE
from proxy.protocol.replies import TransactionStatus

BORROWED_LIMIT = 1 << 20
"""Length of the longest message of a borrower: statements have far fewer characters."""

_ALLOWED = frozenset(b"QPBDECHS")
_OPENING_SEGMENT = frozenset(b"PBDECH")
_TERMINATE = ord("X")
_SYNC = ord("S")
_QUERY = ord("Q")
_READY = ord("Z")
_ERROR = ord("E")
_NOTIFICATION = ord("A")

_ENCODING = "SET LOCAL client_encoding = 'UTF8'"
_FRAMES = {
    TransactionStatus.IDLE: (f"BEGIN READ ONLY; {_ENCODING}", "ROLLBACK"),
    TransactionStatus.OPEN: (
        f"SAVEPOINT pgparley_loan; SET LOCAL transaction_read_only = on; {_ENCODING}",
        "ROLLBACK TO SAVEPOINT pgparley_loan; RELEASE SAVEPOINT pgparley_loan",
    ),
}
"""Transaction status → SQL that opens and that ends the frame. Settings made in it end with it (docs, SET)."""

_FAILED = ErrorReply("25P02", "the session's transaction has failed")
_NOT_ALLOWED = ErrorReply("08P01", "a borrower may send queries only")
_PIPELINED = ErrorReply(
    "0A000",
    "the session cannot be lent inside of a pipeline",
    "What the client sent before the question is committed by its next Sync, and not before.",
    "Send Sync before the question, or begin a transaction block.",
)
_OVERDUE = ErrorReply(
    "57014",
    "the server did not stop a statement of the question in time, and the session has ended",
    hint="Ask for less at once. What the server still does ends there by itself or by pg_terminate_backend.",
)
LOST = ErrorReply(
    "08006",
    "the session could not be given back as it was after a question, and has ended",
    hint="Connect again.",
)


class LoanOwner(Protocol):
    """The session whose server is lent."""

    backend: Backend
    relay_backend: Callable[[bytes], bool]

    def received(self, data: bytes) -> list[Command]:
        """Takes in the server's bytes for the client."""

    def loan_ended(self, *, intact: bool) -> list[Command]:
        """The server is the client's again; where not `intact`, the session ends."""

    def end(self, error: ErrorReply) -> list[Command]:
        """Ends the session."""


def _relays_nothing(_data: bytes) -> bool:
    """`LoanOwner.relay_backend` while the server is lent."""
    return False


class LoanStage(Enum):
    """How far a loan is."""

    WAITING = auto()
    """The server has not answered all of the client's, which goes on as before."""
    SYNCING = auto()
    """A Sync asks the server for its transaction status; everything of the client's has been answered."""
    OPENING = auto()
    LENT = auto()
    CLOSING = auto()
    """The borrower has gone; the server has not answered all that it was sent."""
    RESTORING = auto()
    ENDED = auto()


class Loan:
    """One loan of one session, from its request to its end; no method is called afterwards."""

    def __init__(self, owner: LoanOwner, restore: bytes) -> None:
        """`restore`: messages that restore what ROLLBACK does not, empty for none."""
        self._owner = owner
        self._backend = owner.backend
        self._restore = restore
        self._stage = LoanStage.WAITING
        self._flushed = False
        self._status: TransactionStatus | None = None
        """The client's transaction status, once the server has said it."""
        self._undo = ""
        self._owed = 0
        self._unsynced = False
        self._cancelling = False
        self._problem = b""
        self._unwanted = False
        self._borrowed = b""
        self._head = b""
        self._rest = 0

    @property
    def opened(self) -> bool:
        """Whether the server's bytes belong to the loan."""
        return self._stage is not LoanStage.WAITING

    def begin(self) -> list[Command]:
        """Lends the server now, or as soon as that can be."""
        return self._after_step(self._proceed())

    def receive_backend(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the server's."""
        if self.opened:
            return self._after_step(self._from_server(data))
        return self._after_step([*self._owner.received(data), *self._proceed()])

    def receive_borrower(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the borrower's."""
        return self._after_step(self._from_borrower(data) if self._stage is LoanStage.LENT else [])

    def borrower_left(self) -> list[Command]:
        """The borrower has gone, or is to go."""
        return self._after_step(self._end() if self.opened else self._refuse(_FAILED))

    def cancel_sent(self) -> list[Command]:
        """The last `CancelLent` has been carried out: it can meet no later statement any more."""
        self._cancelling = False
        return self._after_step(self._restore_when_answered())

    def overdue(self) -> list[Command]:
        """The server has not come back in time: the session ends."""
        return self._owner.end(_OVERDUE)

    def _proceed(self) -> list[Command]:
        """Opens the loan as soon as the server owes the client nothing; refuses it where it may not be."""
        replies = self._backend.replies
        if replies.skipping:
            return self._refuse(_FAILED)
        if replies.waiting_for_server or not self._backend.at_boundary:
            return []
        if replies.has_open_segment:
            flush: list[Command] = [] if self._flushed else [ToUpstream(codec.FLUSH)]
            self._flushed = True
            return flush
        if not replies.sync_is_harmless:
            return self._refuse(_PIPELINED)
        self._stage = LoanStage.SYNCING
        self._owed = 1
        return [ToUpstream(codec.SYNC)]

    def _refuse(self, error: ErrorReply) -> list[Command]:
        self._stage = LoanStage.ENDED
        return [*_refusal(error), LoanEnded(intact=True)]

    def _after_step(self, out: list[Command]) -> list[Command]:
        """Sets the relay of the server's chunks after a step, and gives the server back when the loan has ended."""
        owner, backend = self._owner, self._backend
        ended = self._stage is LoanStage.ENDED
        owner.relay_backend = _relays_nothing if self.opened and not ended else backend.relay
        if not ended:
            return out
        if self._status is not None:
            backend.replies.synced(self._status)
            out += owner.received(self._head)
        return out + owner.loan_ended(intact=LoanEnded(intact=False) not in out)

    # -- the borrower

    def _from_borrower(self, data: bytes) -> list[Command]:
        """Whole messages alone go on, so that none is ever left half-sent."""
        self._borrowed += data
        out: list[Command] = []
        pos = 0
        while pos + HEADER_SIZE <= len(self._borrowed):
            kind, length = HEADER.unpack_from(self._borrowed, pos)
            if kind not in _ALLOWED or not LENGTH_SIZE <= length <= BORROWED_LIMIT:
                told = [] if kind == _TERMINATE else _refusal(_NOT_ALLOWED)
                return [*out, *told, *self._end()]
            end = pos + 1 + length
            if end > len(self._borrowed):
                break
            out.append(ToUpstream(self._borrowed[pos:end]))
            self._unsynced = kind in _OPENING_SEGMENT
            self._owed += kind in (_QUERY, _SYNC)
            pos = end
        self._borrowed = self._borrowed[pos:]
        return out

    def _end(self) -> list[Command]:
        """What the borrower began is cancelled and undone."""
        if self._stage is LoanStage.LENT:
            self._stage = LoanStage.CLOSING
            out: list[Command] = []
            if self._unsynced:
                out.append(ToUpstream(codec.SYNC))
                self._owed += 1
            if self._owed:
                self._cancelling = True
                out.append(CancelLent())
            return out + self._restore_when_answered()
        if self._stage in (LoanStage.SYNCING, LoanStage.OPENING):
            # The frame is being opened: it is ended as soon as it is open.
            self._unwanted = True
        return []

    # -- the server

    def _from_server(self, data: bytes) -> list[Command]:
        out: list[Command] = []
        passing: list[bytes] = []
        data = self._head + data
        pos = 0
        while pos < len(data) and self._stage is not LoanStage.ENDED:
            if self._rest:
                end = min(pos + self._rest, len(data))
                self._rest -= end - pos
                passing.append(data[pos:end])
                pos = end
                continue
            if not self._whole(data, pos):
                break
            kind, length = HEADER.unpack_from(data, pos)
            end = pos + 1 + length
            if self._is_observed(kind):
                self._pass(passing, out)
                self._observe(data[pos:end], out)
                pos = end
            else:
                self._rest = end - pos
        self._pass(passing, out)
        self._head = data[pos:]
        return out

    def _pass(self, passing: list[bytes], out: list[Command]) -> None:
        """What came since the last message that was looked at goes on as one piece."""
        if passing and self._stage is LoanStage.LENT:
            out.append(ToBorrower(b"".join(passing)))
        passing.clear()

    def _whole(self, data: bytes, pos: int) -> bool:
        """Whether what has to be seen whole of the message at `pos` has arrived."""
        if pos + HEADER_SIZE > len(data):
            return False
        kind, length = HEADER.unpack_from(data, pos)
        return not self._is_observed(kind) or pos + 1 + int(length) <= len(data)

    def _is_observed(self, kind: int) -> bool:
        return kind in (_READY, _NOTIFICATION) or (kind == _ERROR and self._stage is not LoanStage.LENT)

    def _observe(self, message: bytes, out: list[Command]) -> None:
        if message[0] == _NOTIFICATION:
            # LISTEN is the client's, also while its server is lent.
            out.append(ToClient(message))
        elif message[0] == _ERROR:
            self._problem = self._problem or message
        else:
            self._owed -= 1
            self._ready(TransactionStatus(message[-1]), message, out)

    def _ready(self, status: TransactionStatus, message: bytes, out: list[Command]) -> None:
        match self._stage:
            case LoanStage.SYNCING:
                self._status = status
                out += self._open_frame(status)
            case LoanStage.OPENING:
                out += self._greet_borrower()
            case LoanStage.LENT:
                out.append(ToBorrower(message))
            case LoanStage.CLOSING:
                out += self._restore_when_answered()
            case LoanStage.RESTORING if self._owed == 0:
                self._stage = LoanStage.ENDED
                out.append(LoanEnded(intact=status == self._status and not self._problem))

    def _open_frame(self, status: TransactionStatus) -> list[Command]:
        if self._unwanted or status not in _FRAMES:
            return self._refuse(_FAILED)
        self._stage = LoanStage.OPENING
        begin, self._undo = _FRAMES[status]
        return [self._query(begin)]

    def _greet_borrower(self) -> list[Command]:
        if self._problem or self._unwanted:
            return [ToBorrower(self._problem), *self._restore_commands()]
        self._stage = LoanStage.LENT
        return [ToBorrower(_greeting(self._backend))]

    def _restore_when_answered(self) -> list[Command]:
        quiet = self._stage is LoanStage.CLOSING and not self._owed and not self._cancelling
        return self._restore_commands() if quiet else []

    def _restore_commands(self) -> list[Command]:
        self._stage = LoanStage.RESTORING
        self._problem = b""
        back: list[Command] = [self._query(self._undo)]
        if self._restore:
            self._owed += 1
            back.append(ToUpstream(self._restore + codec.SYNC))
        return back

    def _query(self, sql: str) -> ToUpstream:
        self._owed += 1
        return ToUpstream(codec.encode_query(sql.encode()))


def _refusal(error: ErrorReply) -> list[Command]:
    """What a borrower is told that gets nothing, or nothing more."""
    return [ToBorrower(codec.encode_fatal(error))]


def _greeting(backend: Backend) -> bytes:
    """The messages with which a server ends a successful login, in a transaction (docs, 54.2.1)."""
    statuses = (
        ("server_version", backend.server_version),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
    )
    parts = [codec.AUTHENTICATION_OK]
    parts += [codec.message(b"S", f"{name}\0{value}\0".encode()) for name, value in statuses]
    parts += [codec.message(b"K", backend.key or bytes(8)), codec.message(b"Z", b"T")]
    return b"".join(parts)
