"""The console's side of the protocol. A command goes out as `RunCommand`; the client's bytes wait for `answered`."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from engine.values.messages import ErrorReply
from proxy.console import grammar, tables, views
from proxy.console.grammar import ConsoleCommand, ConsoleError, Empty, Ignored, Rights, ShowView
from proxy.console.tables import CommandResult, Done, ResultTable
from proxy.protocol import codec
from proxy.protocol.framing import HEADER_SIZE, SMALL_LIMIT, ProtocolViolationError, frontend_length

_READY = {status: codec.message(b"Z", status.encode()) for status in "ITE"}
_PARSE_COMPLETE, _BIND_COMPLETE = codec.message(b"1", b""), codec.message(b"2", b"")
_CLOSE_COMPLETE, _NO_DATA = codec.message(b"3", b""), codec.message(b"n", b"")
_NO_PARAMETERS = codec.message(b"t", b"\0\0")
_EMPTY_QUERY = codec.message(b"I", b"")
_PARAMETERS = {
    "server_version": "18.0/pgparley",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "GMT",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
}


@dataclass(frozen=True, slots=True)
class WriteReply:
    """Write to the client."""

    data: bytes


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Carry the command out, then call `answered`."""

    command: ConsoleCommand


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """Close the connection once everything written has gone out."""


ConsoleAction = WriteReply | RunCommand | CloseConnection


@dataclass(frozen=True, slots=True)
class _Portal:
    command: ConsoleCommand
    formats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Pending:
    """The command under way: of a Query, which gets a RowDescription and ReadyForQuery, or of an Execute."""

    simple: bool
    formats: tuple[int, ...] = ()


class ConsoleSession:
    """One console."""

    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._buffer = b""
        self._status = "I"
        self._skipping = False
        self._pending: _Pending | None = None
        self._statements: dict[bytes, ConsoleCommand] = {}
        self._portals: dict[bytes, _Portal] = {}
        self._closed = False

    @staticmethod
    def greeting(user: str, key: bytes) -> bytes:
        """The messages that follow a login; `key` is the body of BackendKeyData."""
        parameters = {**_PARAMETERS, "session_authorization": user}
        status = b"".join(
            codec.message(b"S", name.encode() + b"\0" + value.encode("utf-8", "replace") + b"\0")
            for name, value in parameters.items()
        )
        return codec.AUTHENTICATION_OK + status + codec.message(b"K", key) + _READY["I"]

    def receive(self, data: bytes) -> list[ConsoleAction]:
        """Takes in bytes."""
        self._buffer += data
        out: list[ConsoleAction] = []
        try:
            self._process(out)
        except ProtocolViolationError as violation:
            error = ErrorReply("08P01", str(violation))
            self._closed = True
            out += [WriteReply(codec.encode_fatal(error)), CloseConnection()]
        return out

    def answered(self, result: CommandResult) -> list[ConsoleAction]:
        """The outcome of the last `RunCommand`."""
        return self._finish(result) + self.receive(b"")

    def _finish(self, result: CommandResult) -> list[ConsoleAction]:
        pending, self._pending = self._pending, None
        if pending is None:
            raise AssertionError("nothing was asked")
        out: list[ConsoleAction] = []
        if isinstance(result, ErrorReply):
            self._fail(result, out, simple=pending.simple)
        else:
            out.append(WriteReply(_outcome(result, pending)))
            if pending.simple:
                out.append(WriteReply(_READY[self._status]))
        return out

    # -- messages

    def _process(self, out: list[ConsoleAction]) -> None:
        while self._pending is None and not self._closed and len(self._buffer) >= HEADER_SIZE:
            kind = self._buffer[0]
            length = frontend_length(self._buffer, 0)
            if length > SMALL_LIMIT:
                raise ProtocolViolationError("the console takes short messages only")
            if length + 1 > len(self._buffer):
                return
            message, self._buffer = self._buffer[: length + 1], self._buffer[length + 1 :]
            self._message(kind, message, out)

    def _message(self, kind: int, message: bytes, out: list[ConsoleAction]) -> None:
        letter = chr(kind)
        if letter == "X":
            self._closed = True
            out.append(CloseConnection())
        elif letter == "Q":
            self._query(message, out)
        elif letter == "S":
            self._skipping = False
            self._portals.clear()
            out.append(WriteReply(_READY[self._status]))
        elif not self._skipping:
            try:
                self._extended(letter, message, out)
            except ConsoleError as problem:
                self._fail(problem.reply, out, simple=False)

    def _query(self, message: bytes, out: list[ConsoleAction]) -> None:
        try:
            command = self._command(codec.decode_query(message))
        except ConsoleError as problem:
            self._fail(problem.reply, out, simple=True)
            return
        self._ask(command, _Pending(simple=True), out)

    def _extended(self, letter: str, message: bytes, out: list[ConsoleAction]) -> None:
        match letter:
            case "P":
                parse = codec.decode_parse(message)
                if parse is None:
                    raise ProtocolViolationError("malformed Parse")
                self._statements[parse.name] = self._command(parse.text)
                out.append(WriteReply(_PARSE_COMPLETE))
            case "B":
                self._bind(message)
                out.append(WriteReply(_BIND_COMPLETE))
            case "D":
                out.append(WriteReply(self._described(message)))
            case "E":
                portal = self._portal(message[HEADER_SIZE:].partition(b"\0")[0])
                self._ask(portal.command, _Pending(simple=False, formats=portal.formats), out)
            case "C":
                target = codec.decode_target(message)
                named: dict[bytes, ConsoleCommand] | dict[bytes, _Portal] = (
                    self._statements if target.kind == b"S" else self._portals
                )
                named.pop(target.name, None)
                out.append(WriteReply(_CLOSE_COMPLETE))
            case "H":
                pass
            case _:
                raise _error("0A000", "the console has no function calls and no COPY")

    def _bind(self, message: bytes) -> None:
        bind = codec.decode_bind(message)
        if bind is None:
            raise ProtocolViolationError("malformed Bind")
        if bind.parameters:
            raise _error("08P01", "the console's commands take no parameters")
        (count,) = struct.unpack_from(">H", bind.results)
        formats = (
            struct.unpack_from(f">{count}H", bind.results, 2) if len(bind.results) >= 2 + 2 * count else ()
        )
        self._portals[bind.portal] = _Portal(self._statement(bind.statement), formats)

    def _described(self, message: bytes) -> bytes:
        target = codec.decode_target(message)
        if target.kind == b"S":
            return _NO_PARAMETERS + _shape(self._statement(target.name), ())
        portal = self._portal(target.name)
        return _shape(portal.command, portal.formats)

    def _statement(self, name: bytes) -> ConsoleCommand:
        if name not in self._statements:
            raise _error("26000", f'prepared statement "{name.decode("utf-8", "replace")}" does not exist')
        return self._statements[name]

    def _portal(self, name: bytes) -> _Portal:
        if name not in self._portals:
            raise _error("34000", f'portal "{name.decode("utf-8", "replace")}" does not exist')
        return self._portals[name]

    def _command(self, text: bytes) -> ConsoleCommand:
        command = grammar.parse(text.decode("utf-8", "replace"), views.NAMES)
        grammar.check_rights(command, self._rights, views.FOR_ADMINS)
        ends = isinstance(command, Ignored) and command.status == "I"
        if self._status == "E" and not ends:
            raise _error(
                "25P02", "current transaction is aborted, commands ignored until end of transaction block"
            )
        return command

    def _ask(self, command: ConsoleCommand, pending: _Pending, out: list[ConsoleAction]) -> None:
        self._pending = pending
        if isinstance(command, Ignored):
            self._status = command.status or self._status
            out += self._finish(Done(command.tag))
        elif isinstance(command, Empty):
            out += self._finish(Done(""))
        else:
            out.append(RunCommand(command))

    def _fail(self, error: ErrorReply, out: list[ConsoleAction], *, simple: bool) -> None:
        self._status = "E" if self._status != "I" else "I"
        self._skipping = not simple
        out.append(WriteReply(codec.encode_error(error, "utf-8")))
        if simple:
            out.append(WriteReply(_READY[self._status]))


def _error(sqlstate: str, message: str) -> ConsoleError:
    return ConsoleError(ErrorReply(sqlstate, message))


def _shape(command: ConsoleCommand, formats: tuple[int, ...]) -> bytes:
    shape = views.columns_of(command.view) if isinstance(command, ShowView) else None
    return _NO_DATA if shape is None else tables.description(shape, formats)


def _outcome(result: ResultTable | Done, pending: _Pending) -> bytes:
    if isinstance(result, Done):
        notice = b"" if result.notice is None else _notice(*result.notice)
        return notice + (_complete(result.tag) if result.tag else _EMPTY_QUERY)
    head = tables.description(result.columns, ()) if pending.simple else b""
    rows = b"".join(tables.row(values, result.columns, pending.formats) for values in result.rows)
    return head + rows + _complete("SHOW")


def _complete(tag: str) -> bytes:
    return codec.message(b"C", tag.encode() + b"\0")


def _notice(title: str, text: str) -> bytes:
    fields = (b"SNOTICE", b"VNOTICE", b"C00000", b"M" + title.encode(), b"D" + text.encode())
    return codec.message(b"N", b"".join(field + b"\0" for field in fields) + b"\0")
