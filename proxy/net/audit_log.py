"""The audit log: JSON lines in a file that others may rotate, or to syslog. A line's content is `proxy.audit`'s."""

from __future__ import annotations

import io
import logging
import logging.handlers
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from engine.values.messages import EngineRequest, ErrorReply
from proxy.audit import AuditLine, asked, replied, written
from proxy.console.reports import ClientReport
from proxy.protocol.commands import EngineReply
from proxy.settings import AuditRedaction

_SYSLOG = "syslog"
_DEVICE = "/dev/log"

_OF_REPLIES = frozenset({"NL001", "NL002"})
"""Errors that the gateway makes of a reply, whose line has been written."""
_CANCELLED = ErrorReply("57014", "")


class _Reporting(logging.Handler):
    """Tells of a line that could not be written, instead of printing it."""

    lost: Callable[[], None]

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's
        self.lost()


class _File(_Reporting, logging.handlers.WatchedFileHandler):
    """Workers share the file: each line is one write, at the end of what is there then."""

    def _open(self) -> io.TextIOWrapper:
        number = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return io.TextIOWrapper(os.fdopen(number, "ab", buffering=0), encoding="utf-8", write_through=True)


class _Syslog(_Reporting, logging.handlers.SysLogHandler):
    """Facility authpriv, priority info; the program is `pgparley`."""

    ident = "pgparley: "


def syslog_device(target: str) -> str | None:
    """The socket of the syslog that `audit_log` names; None where it names a file, or nothing."""
    kind, _, device = target.partition(":")
    return (device or _DEVICE) if kind == _SYSLOG else None


class AuditLog:
    """Where the lines go. `lost`: called for each that could not be written. Raises `OSError`."""

    def __init__(self, target: str, redaction: AuditRedaction, lost: Callable[[], None]) -> None:
        """`target`: the file's path; `syslog`, or `syslog:` and the path of its socket; empty writes nothing."""
        self._redaction = redaction
        self._lost = lost
        self._handler: _Reporting | None = None
        device = syslog_device(target)
        if device is not None:
            authpriv = logging.handlers.SysLogHandler.LOG_AUTHPRIV
            self._handler = _Syslog(address=device, facility=authpriv)
        elif target:
            self._handler = _File(target)
        if self._handler is not None:
            self._handler.lost = lost

    def trail(self, client: ClientReport) -> AuditTrail | None:
        """The lines of one session; None where nothing is logged."""
        return None if self._handler is None else AuditTrail(client, self._redaction, self.write)

    def write(self, line: AuditLine) -> None:
        """Writes a line; never raises."""
        if self._handler is None:
            return
        record = logging.makeLogRecord(
            {"msg": msgspec.json.encode(line).decode(), "levelno": logging.INFO, "levelname": "INFO"}
        )
        try:
            self._handler.handle(record)
        except OSError:  # the file was moved away, and cannot be made again
            self._lost()

    def close(self) -> None:
        """Writes no more."""
        if self._handler is not None:
            self._handler.close()
            self._handler = None


class AuditTrail:
    """One session's lines: one for each request, and one for a statement that is refused without any.

    A request is `begun`, then `answered` or, where nobody waits any longer, `dropped`. Every error that the client gets
    is `failed`, also where it is that of a request.
    """

    __slots__ = ("_begun", "_client", "_redaction", "_request", "_told", "_write")

    def __init__(
        self, client: ClientReport, redaction: AuditRedaction, write: Callable[[AuditLine], None]
    ) -> None:
        self._client = client
        self._redaction = redaction
        self._write = write
        self._request: EngineRequest | None = None
        self._begun = 0.0
        self._told: list[str] = []

    def begun(self, request: EngineRequest) -> None:
        """A request goes to the engine."""
        self._request, self._begun = request, time.perf_counter()

    def answered(self, reply: EngineReply) -> None:
        """Its reply has come."""
        if self._request is not None:
            if isinstance(reply, ErrorReply):
                self._told.append(reply.sqlstate)
            self._line(self._request, reply)

    def dropped(self) -> None:
        """Its asker has cancelled it, or gone."""
        self.answered(_CANCELLED)

    def failed(self, error: ErrorReply) -> None:
        """The client gets an error."""
        if self._request is not None:
            # The session has cancelled it; the request itself ends a moment later.
            self._line(self._request, error)
        elif error.sqlstate in self._told:
            self._told.remove(error.sqlstate)
        elif error.sqlstate not in _OF_REPLIES:
            self._line(None, error)

    def _line(self, request: EngineRequest | None, reply: EngineReply) -> None:
        self._request = None
        line = replied(AuditLine() if request is None else asked(request), reply)
        question, statements = written(line.question, line.statements, self._redaction)
        self._write(
            replace(
                line,
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                session=self._client.id,
                role=self._client.user,
                database=self._client.database,
                question=question,
                statements=statements,
                ms=0 if request is None else round((time.perf_counter() - self._begun) * 1000),
            )
        )
