"""The audit log: JSON lines in a file that others may rotate, or to syslog. A line's content is `proxy.audit`'s.

Owns where lines go, the pseudonyms in them, and the order of a statement's lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging.handlers
import os
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import msgspec

from engine.values.errors import UnrecordedError
from engine.values.messages import Asker, EngineRequest, ErrorReply
from proxy.audit import AuditLine, Event, OutcomeLine, asked, replied, written
from proxy.audit_chain import Chain, Continued, Head
from proxy.console.reports import ClientReport
from proxy.net import access
from proxy.net.pseudonyms import People
from proxy.protocol.commands import EngineReply
from proxy.protocol.meter import Delivered
from proxy.settings import AuditSettings

_SYSLOG = "syslog"
_DEVICE = "/dev/log"

_SYNC_SECONDS = 10.0
"""For which the disk is waited for; an answer that waits for it longer is dropped."""

_KEEP_SECONDS = 60.0
"""Seconds between two heads, and between two looks for files that are too old."""

_DAY = 86_400.0
_ROTATED = re.compile(r"[.-][0-9][0-9.-]*(\.(gz|bz2|xz|zst))?")
"""What the name of a rotated file has behind the log's."""

_OF_REPLIES = frozenset({"NL001", "NL002"})
"""Errors that the gateway makes of a reply, whose line has been written."""
_CANCELLED = ErrorReply("57014", "")


class _File:
    """Workers share it: each line is one write, at the end of what is there then. Raises `OSError`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._number = self._open()

    def _open(self) -> int:
        number = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Who wrote the last line may have ended in the middle of it.
        size = os.fstat(number).st_size
        self._torn = size > 0 and os.pread(number, 1, size - 1) != b"\n"
        return number

    def reopened(self) -> bool:
        """Opens it anew where it was moved away; returns whether it was."""
        here = os.fstat(self._number)
        try:
            there = os.stat(self._path)  # noqa: PTH116 - a look at each line
        except FileNotFoundError:
            there = None
        if there is not None and (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino):
            return False
        before, self._number = self._number, self._open()
        os.close(before)
        return True

    def write(self, line: bytes) -> None:
        whole = b"\n" * self._torn + line + b"\n"
        count = os.write(self._number, whole)
        self._torn = count < len(whole)
        if self._torn:
            raise OSError(errno.ENOSPC, "a line could be written in part only", self._path)

    async def sync(self) -> None:
        """Returns once what was written is on the disk; other sessions go on meanwhile."""
        # A cancelled waiter leaves the thread alone, which closes its own number of the file.
        await asyncio.shield(asyncio.to_thread(_sync, os.dup(self._number)))

    def close(self) -> None:
        os.close(self._number)


def _sync(number: int) -> None:
    try:
        os.fdatasync(number)
    finally:
        os.close(number)


class _Syslog(logging.handlers.SysLogHandler):
    """Facility authpriv, priority info; the program is `pgparley`. Raises `OSError`."""

    ident = "pgparley: "

    def handleError(self, record: logging.LogRecord) -> NoReturn:  # noqa: ARG002, N802 - logging's
        raise  # noqa: PLE0704 - what was caught in emit()

    def reopened(self) -> bool:
        return False

    def write(self, line: bytes) -> None:
        values = {"msg": line.decode(), "levelno": logging.INFO, "levelname": "INFO"}
        self.handle(logging.makeLogRecord(values))

    async def sync(self) -> None:
        """Nothing can be waited for."""


def syslog_device(target: str) -> str | None:
    """The socket of the syslog that `target` names; None where it names a file, or nothing."""
    kind, _, device = target.partition(":")
    return (device or _DEVICE) if kind == _SYSLOG else None


def _sink(target: str) -> _File | _Syslog | None:
    device = syslog_device(target)
    if device is not None:
        return _Syslog(address=device, facility=logging.handlers.SysLogHandler.LOG_AUTHPRIV)
    return _File(target) if target else None


class AuditLog:
    """Where the lines of one process go. `lost`: called for each that could not be written."""

    def __init__(self, settings: AuditSettings, lost: Callable[[], None], days: float = 0.0) -> None:
        """`days`: after which rotated files are deleted, 0: never. Raises `OSError` and `AccessError`."""
        self.target = settings.log
        self.before = settings.before
        self._redaction = settings.redact
        self._lost = lost
        self._days = days
        self._name = secrets.token_hex(6)
        self._count = 0
        self._last = ""
        self._rotated = False
        key = access.audit_key(settings)
        self._people = People(Path(settings.people), key) if settings.pseudonyms else None
        self._sink = _sink(settings.log)
        self._heads = _sink(settings.heads)
        self._chain = Chain(key, self._name) if key and self._sink else None

    @property
    def enabled(self) -> bool:
        """Whether anything is written down."""
        return self._sink is not None

    def new_id(self) -> str:
        """An id that no other line of any process has."""
        self._count += 1
        return f"{self._name}-{self._count}"

    def write(self, line: AuditLine | OutcomeLine) -> bool:
        """Writes a line, its text redacted and its person under a pseudonym; returns whether that could be done."""
        if self._sink is None:
            return False
        try:
            if isinstance(line, AuditLine):
                question, statements = written(line.question, line.statements, self._redaction)
                line = replace(
                    self._under_pseudonyms(line),
                    database=_clean(line.database),
                    application_name=_clean(line.application_name),
                    question=question,
                    statements=statements,
                )
            self._rotated |= self._sink.reopened()
            if self._rotated and self._chain is not None and self._chain.place:
                self._put(msgspec.json.encode(Continued(now(), self._chain.mac.hex())), now())
            self._rotated = False
            self._put(msgspec.json.encode(line), line.time)
        except (OSError, ValueError):
            self._lost()
            return False
        return True

    def _under_pseudonyms(self, line: AuditLine) -> AuditLine:
        role, person = line.role, line.on_behalf
        if self._people is not None:
            person = person and self._people.pseudonym(Asker(role, "", person=person).owner)
            role = self._people.pseudonym(Asker(role, "").owner)
        return replace(line, role=_clean(role), on_behalf=_clean(person))

    def _put(self, line: bytes, moment: str) -> None:
        if self._sink is None:
            raise AssertionError("the log is closed")
        if self._chain is None:
            self._sink.write(line)
            return
        sealed, mac = self._chain.sealed(line)
        self._sink.write(sealed)
        self._chain.advance(mac)
        self._last = moment

    async def synced(self) -> bool:
        """Returns, once it is known, whether what was written is on the disk."""
        if self._sink is not None:
            try:
                async with asyncio.timeout(_SYNC_SECONDS):
                    await self._sink.sync()
            except OSError:
                self._lost()
                return False
        return True

    async def keep(self) -> None:
        """Each minute tells the head, and deletes rotated files that are too old."""
        while True:
            await asyncio.sleep(_KEEP_SECONDS)
            self.tell_head()
            with contextlib.suppress(OSError):
                await asyncio.to_thread(self.delete_old)

    def tell_head(self) -> None:
        """Tells how far the chain has come, where it has come further."""
        chain = self._chain
        if chain is None or self._heads is None or chain.told == chain.place:
            return
        try:
            self._heads.reopened()
            self._heads.write(msgspec.json.encode(Head(chain.name, chain.place, chain.mac.hex(), self._last)))
            chain.told = chain.place
        except OSError:
            self._lost()

    def delete_old(self) -> None:
        """Deletes the log's rotated files of which the last line is older than allowed."""
        if not self._days or not isinstance(self._sink, _File):
            return
        log, oldest = Path(self.target), time.time() - self._days * _DAY
        for file in log.parent.iterdir():
            rest = file.name.removeprefix(log.name)
            # Another worker may have been first.
            with contextlib.suppress(FileNotFoundError):
                if rest != file.name and _ROTATED.fullmatch(rest) and file.stat().st_mtime < oldest:
                    file.unlink()

    def close(self) -> None:
        """Tells the head, and writes no more."""
        self.tell_head()
        for sink in (self._sink, self._heads):
            if sink is not None:
                sink.close()
        self._sink = self._heads = None


class AuditTrail:
    """One session's lines: one for each request, and one for a statement that is refused without any.

    A request is `begun`, then `answered` or, where nobody waits any longer, `dropped`. Every error that the client gets
    is `failed`, also where it is that of a request. What was answered is `delivered`, which is one more line.
    """

    __slots__ = ("_begun", "_client", "_log", "_new", "_open", "_request", "_told")

    def __init__(self, client: ClientReport, log: AuditLog) -> None:
        self._client = client
        self._log = log
        self._request: EngineRequest | None = None
        self._begun = 0.0
        self._told: list[str] = []
        self._new = 0
        self._open: list[tuple[str, float]] = []
        """Id and beginning of those that have been answered, and whose answer has not left yet."""

    def begun(self, request: EngineRequest) -> None:
        """A request goes to the engine."""
        self._request, self._begun = request, time.perf_counter()

    async def answered(self, reply: EngineReply) -> EngineReply:
        """Its reply has come. Returns what the client may get: an error, where the line must come first and cannot."""
        recorded = self._replied(reply)
        if not self._log.before or (recorded and await self._log.synced()):
            return reply
        hint = f"Nothing is answered without it ([audit] before). The operator looks at {self._log.target}."
        error = UnrecordedError(
            "the audit log cannot be written", detail="The answer was dropped.", hint=hint
        )
        self._told = [error.sqlstate]
        return error.reply()

    def _replied(self, reply: EngineReply) -> bool:
        if self._request is None:
            return True
        if isinstance(reply, ErrorReply):
            self._told.append(reply.sqlstate)
        return self._line(self._request, reply)

    def dropped(self) -> None:
        """Its asker has cancelled it, or gone."""
        self._replied(_CANCELLED)

    def failed(self, error: ErrorReply) -> None:
        """The client gets an error."""
        if self._request is not None:
            # The session has cancelled it; the request itself ends a moment later.
            self._line(self._request, error)
        elif error.sqlstate in self._told:
            self._told.remove(error.sqlstate)
        elif error.sqlstate not in _OF_REPLIES and not (self._open and error.sqlstate == _CANCELLED.sqlstate):
            self._line(None, error)

    def recorded(self) -> int:
        """How many intents have been written since this was last asked."""
        new, self._new = self._new, 0
        return new

    def delivered(self, delivered: Delivered | None) -> None:
        """What was answered the longest ago has left; None: the asker has gone, and takes none of what is open."""
        had = delivered or Delivered(len(self._open), None, None, None)
        self._close(slice(had.intents), had)

    def withdrawn(self, intents: int) -> None:
        """Nothing of the latest ones leaves."""
        self._close(slice(len(self._open) - intents, None), Delivered(intents, None, None, None))

    def _close(self, which: slice, had: Delivered) -> None:
        for name, begun in self._open[which]:
            told = (had.rows, had.size, had.sqlstate, _since(begun))
            self._log.write(OutcomeLine(Event.OUTCOME, now(), name, *told))
        del self._open[which]

    def _line(self, request: EngineRequest | None, reply: EngineReply) -> bool:
        self._request = None
        if not self._log.enabled:
            return False
        line = replied(AuditLine() if request is None else asked(request), reply)
        line = replace(
            line,
            time=now(),
            id=self._log.new_id(),
            session=self._client.id,
            role=self._client.user,
            on_behalf="" if request is None else request.asker.person,
            database=self._client.database,
            address=self._client.address,
            application_name=self._client.application_name,
            ms=0 if request is None else _since(self._begun),
        )
        recorded = self._log.write(line)
        if recorded and line.event is Event.INTENT:
            self._open.append((line.id, self._begun))
            self._new += 1
        return recorded


def now() -> str:
    """The moment in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _clean(text: str) -> str:
    """What a client sent in no encoding, as it can be written down."""
    return text.encode("utf-8", "replace").decode()


def _since(begun: float) -> int:
    return round((time.perf_counter() - begun) * 1000)
