"""The loan of a session's server to the engine, for the length of one transaction that is always rolled back.

Owns the borrower's messages, the frame around them (a transaction, or a savepoint in the client's), and the restoration
of the client's state.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from engine.types import ErrorReply
from proxy.protocol import codec
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

FAILED = ErrorReply("25P02", "the session's transaction has failed")
_NOT_ALLOWED = ErrorReply("08P01", "a borrower may send queries only")


class LoanStage(Enum):
    """How far a loan is."""

    SYNCING = auto()
    """A Sync asks the server for its transaction status; everything of the client's has been answered."""
    OPENING = auto()
    LENT = auto()
    CLOSING = auto()
    """The borrower has gone; the server has not answered all that it was sent."""
    RESTORING = auto()
    ENDED = auto()


@dataclass(frozen=True, slots=True)
class LoanedServer:
    """The server's version and the body of its BackendKeyData, for the borrower's greeting."""

    version: str
    key: bytes


class Loan:
    """One loan. `restore`: messages that restore what ROLLBACK does not, empty for none."""

    def __init__(self, server: LoanedServer, restore: bytes = b"") -> None:
        self.stage = LoanStage.SYNCING
        self._server = server
        self._restore = restore
        self._status = TransactionStatus.IDLE
        self._owed = 0
        self._unsynced = False
        self._cancelling = False
        self._problem = b""
        self._unwanted = False
        self._borrowed = b""
        self._head = b""
        self._rest = 0

    @property
    def status(self) -> TransactionStatus:
        """The client's transaction status, known once the server has said it."""
        return self._status

    @property
    def leftover(self) -> bytes:
        """The server's bytes after the loan's end."""
        return self._head

    def open(self) -> list[Command]:
        """Begins. Everything that the server was sent before has been answered."""
        self._owed = 1
        return [ToUpstream(codec.SYNC)]

    # -- the borrower

    def receive_borrower(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the borrower's; whole messages alone go on, so that none is ever left half-sent."""
        if self.stage is not LoanStage.LENT:
            return []
        self._borrowed += data
        out: list[Command] = []
        pos = 0
        while pos + HEADER_SIZE <= len(self._borrowed):
            kind, length = HEADER.unpack_from(self._borrowed, pos)
            if kind not in _ALLOWED or not LENGTH_SIZE <= length <= BORROWED_LIMIT:
                return [*out, *self._refuse(kind)]
            end = pos + 1 + length
            if end > len(self._borrowed):
                break
            out.append(ToUpstream(self._borrowed[pos:end]))
            self._account(kind)
            pos = end
        self._borrowed = self._borrowed[pos:]
        return out

    def _account(self, kind: int) -> None:
        self._unsynced = kind in _OPENING_SEGMENT
        self._owed += kind in (_QUERY, _SYNC)

    def _refuse(self, kind: int) -> list[Command]:
        commands: list[Command] = []
        if kind != _TERMINATE:
            commands += refusal(_NOT_ALLOWED)
        return commands + self.end()

    def end(self) -> list[Command]:
        """The borrower has gone, or is to go: what it began is cancelled and undone."""
        if self.stage is LoanStage.LENT:
            self.stage = LoanStage.CLOSING
            out: list[Command] = []
            if self._unsynced:
                out.append(ToUpstream(codec.SYNC))
                self._owed += 1
            if self._owed:
                self._cancelling = True
                out.append(CancelLent())
            return out + self._restore_when_answered()
        if self.stage in (LoanStage.SYNCING, LoanStage.OPENING):
            # The frame is being opened: it is ended as soon as it is open.
            self._unwanted = True
        return []

    def cancelled(self) -> list[Command]:
        """The request to cancel has been carried out: none can meet a later statement any more."""
        self._cancelling = False
        return self._restore_when_answered()

    # -- the server

    def receive_backend(self, data: bytes) -> list[Command]:
        """Takes in a chunk of the server's."""
        out: list[Command] = []
        passing: list[bytes] = []
        data = self._head + data
        pos = 0
        while pos < len(data) and self.stage is not LoanStage.ENDED:
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
        if passing and self.stage is LoanStage.LENT:
            out.append(ToBorrower(b"".join(passing)))
        passing.clear()

    def _whole(self, data: bytes, pos: int) -> bool:
        """Whether what has to be seen whole of the message at `pos` has arrived."""
        if pos + HEADER_SIZE > len(data):
            return False
        kind, length = HEADER.unpack_from(data, pos)
        return not self._is_observed(kind) or pos + 1 + int(length) <= len(data)

    def _is_observed(self, kind: int) -> bool:
        return kind in (_READY, _NOTIFICATION) or (kind == _ERROR and self.stage is not LoanStage.LENT)

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
        match self.stage:
            case LoanStage.SYNCING:
                self._status = status
                out += self._open_frame()
            case LoanStage.OPENING:
                out += self._greet_borrower()
            case LoanStage.LENT:
                out.append(ToBorrower(message))
            case LoanStage.CLOSING:
                out += self._restore_when_answered()
            case LoanStage.RESTORING if self._owed == 0:
                self.stage = LoanStage.ENDED
                out.append(LoanEnded(intact=status == self._status and not self._problem))

    def _open_frame(self) -> list[Command]:
        if self._unwanted or self._status not in _FRAMES:
            self.stage = LoanStage.ENDED
            return [*refusal(FAILED), LoanEnded(intact=True)]
        self.stage = LoanStage.OPENING
        return [self._query(_FRAMES[self._status][0])]

    def _greet_borrower(self) -> list[Command]:
        if self._problem or self._unwanted:
            return [ToBorrower(self._problem), *self._restore_commands()]
        self.stage = LoanStage.LENT
        return [ToBorrower(_greeting(self._server))]

    def _restore_when_answered(self) -> list[Command]:
        quiet = self.stage is LoanStage.CLOSING and not self._owed and not self._cancelling
        return self._restore_commands() if quiet else []

    def _restore_commands(self) -> list[Command]:
        self.stage = LoanStage.RESTORING
        self._problem = b""
        back: list[Command] = [self._query(_FRAMES[self._status][1])]
        if self._restore:
            self._owed += 1
            back.append(ToUpstream(self._restore + codec.SYNC))
        return back

    def _query(self, sql: str) -> ToUpstream:
        self._owed += 1
        return ToUpstream(codec.encode_query(sql.encode()))


def refusal(error: ErrorReply) -> list[Command]:
    """What a borrower is told that gets nothing, or nothing more."""
    return [ToBorrower(codec.encode_fatal(error))]


def _greeting(server: LoanedServer) -> bytes:
    """The messages with which a server ends a successful login, in a transaction (docs, 54.2.1)."""
    statuses = (
        ("server_version", server.version),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
    )
    parts = [codec.AUTHENTICATION_OK]
    parts += [codec.message(b"S", f"{name}\0{value}\0".encode()) for name, value in statuses]
    parts += [codec.message(b"K", server.key), codec.message(b"Z", b"T")]
    return b"".join(parts)
