"""Who is signed in, and how long somebody who has failed to waits for the next attempt.

Each session has a connection of its role's own, and no password. A role's failures are counted, in memory, wherever its
attempts come from, an address' whatever role it tries: behind a proxy all have one, so that it may fail more often.

Owns ids, forms' tokens and ends of sessions. A session ends when it rests too long, is too old, signs out, or its
connection is gone. What is done over the connection is done one thing after the other, reading in a transaction that
can only read.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from page.asking import Asking
from page.sign_in import CONNECT_SECONDS, Signed
from schema_catalog.pg import Connection

LONGEST = 8 * 3600.0
"""Seconds after which a session ends however busy it is."""

MOST = 50
"""Sessions at once: each is a connection. The one that rests longest makes room."""


class Tone(StrEnum):
    """How a notice is meant."""

    DONE = "done"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the next page."""

    tone: Tone
    text: str


@dataclass(slots=True)
class Session:
    """One signed-in role. `token` stands in each of its forms. Times are seconds of the event loop's clock.

    `asking`: its connection through the gateway, once it has asked.
    """

    signed: Signed
    token: str
    began: float
    seen: float
    notice: Notice | None = None
    asking: Asking | None = None
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """The role's connection, which can change nothing."""
        async with self._busy, self.signed.connection.transaction(readonly=True):
            yield self.signed.connection

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[Connection]:
        """The role's connection, in a transaction."""
        async with self._busy, self.signed.connection.transaction():
            yield self.signed.connection

    async def ask_over(self, asking: Asking) -> None:
        """Questions go over this connection from now on; the one before ends."""
        before, self.asking = self.asking, asking
        if before is not None:
            await before.close()

    def owns(self, token: str) -> bool:
        """Whether a form with this token is the session's."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def take_notice(self) -> Notice | None:
        """The notice, which is then shown no more."""
        notice, self.notice = self.notice, None
        return notice


class Sessions:
    """All sessions of one page. `idle`: seconds that one may rest."""

    def __init__(self, idle: float) -> None:
        self._idle = idle
        self._sessions: dict[str, Session] = {}

    async def begin(self, signed: Signed, now: float) -> str:
        """A new session; returns its id."""
        while len(self._sessions) >= MOST:
            await self.end(min(self._sessions, key=lambda name: self._sessions[name].seen))
        name = secrets.token_urlsafe(32)
        self._sessions[name] = Session(signed, secrets.token_urlsafe(32), now, now)
        return name

    def find(self, name: str, now: float) -> Session | None:
        """The session of that id, which has been seen now; None where there is none any more."""
        session = self._sessions.get(name)
        if session is None or self._over(session, now):
            return None
        session.seen = now
        return session

    async def end(self, name: str) -> None:
        """Ends a session, if there is one."""
        session = self._sessions.pop(name, None)
        if session is not None and session.asking is not None:
            await session.asking.close()
        if session is not None and not session.signed.connection.is_closed():
            try:
                await session.signed.connection.close(timeout=CONNECT_SECONDS)
            except (TimeoutError, OSError):
                session.signed.connection.terminate()

    async def end_over(self, now: float) -> None:
        """Ends those that are over."""
        for name in [name for name, session in self._sessions.items() if self._over(session, now)]:
            await self.end(name)

    async def end_all(self) -> None:
        """Ends every session."""
        for name in list(self._sessions):
            await self.end(name)

    def _over(self, session: Session, now: float) -> bool:
        resting, old = now - session.seen > self._idle, now - session.began > LONGEST
        return resting or old or session.signed.connection.is_closed()


FREE_OF_ROLE = 3
"""Attempts on one role that may fail before the next has to wait."""

FREE_OF_ADDRESS = 20

LONGEST_WAIT = 60.0
"""Seconds that an attempt waits at most, and after which failures count no more, four times over."""

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    last: float


class Attempts:
    """Failed attempts by role and by address. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()

    def wait(self, role: str, address: str, now: float) -> float:
        """Seconds until `role` may be tried from `address`; 0: now."""
        return max(
            self._wait(("role", role), FREE_OF_ROLE, now),
            self._wait(("address", address), FREE_OF_ADDRESS, now),
        )

    def begun(self, role: str, address: str, now: float) -> None:
        """Counts an attempt as failed, so that others at the same time count as well; `succeeded` takes it back."""
        for key in (("role", role), ("address", address)):
            known = self._failures.pop(key, None)
            count = 0 if known is None or now - known.last > 4 * LONGEST_WAIT else known.count
            self._failures[key] = _Failures(count + 1, now)
        while len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, role: str, address: str) -> None:
        """Forgets the failures of both."""
        self._failures.pop(("role", role), None)
        self._failures.pop(("address", address), None)

    def _wait(self, key: tuple[str, str], free: int, now: float) -> float:
        known = self._failures.get(key)
        if known is None or known.count < free:
            return 0.0
        pause = min(2.0 ** min(known.count - free, 10), LONGEST_WAIT)
        return max(0.0, known.last + pause - now)
