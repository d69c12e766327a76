"""The sessions of a worker: who is connected, what went through, and what is closed to new ones.

Owns the registries and the counts. Every session is in it from its first byte to its last.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from proxy.console.reports import ClientReport, SessionReport, Traffic
from proxy.net.addresses import server_side
from proxy.protocol.session import Session
from proxy.protocol.session_phases import Phase

STATS_PERIOD = 60.0
"""Seconds over which averages are taken (PgBouncer's `stats_period`)."""

_WAITING = frozenset({Phase.STARTUP, Phase.DIALLING, Phase.AUTHENTICATING})


class SessionView(Protocol):
    """A session as it stands now, and the way to end it."""

    @property
    def session(self) -> Session:
        """To be read only."""

    @property
    def received(self) -> int:
        """Bytes that the client had sent when `session` was last read."""

    @property
    def sent(self) -> int:
        """Bytes that the server had sent then."""

    @property
    def server(self) -> asyncio.Transport | None:
        """The server's transport, None before it stands."""

    def shut_down(self) -> None:
        """Ends the session from our side."""


class SessionRegistry:
    """The sessions of one worker."""

    def __init__(self) -> None:
        self.links: set[SessionView] = set()
        self.empty = asyncio.Event()
        self.empty.set()
        self.paused: set[str] = set()
        self.disabled: set[str] = set()
        self.all_paused = False
        self._resumed = asyncio.Event()
        self._visitors: dict[SessionView, ClientReport] = {}
        self._leaving: set[SessionView] = set()
        self._outdated: set[SessionView] = set()
        self._ended: dict[str, Traffic] = {}
        self._turned: tuple[float, dict[str, Traffic]] = (time.monotonic(), {})
        self._recent: tuple[float, dict[str, Traffic]] | None = None

    # -- coming and going

    def add(self, link: SessionView) -> None:
        """A session begins."""
        self.links.add(link)
        self.empty.clear()

    def introduce(self, link: SessionView, visitor: ClientReport) -> None:
        """Who the client of `link` is."""
        self._visitors[link] = visitor

    def remove(self, link: SessionView) -> None:
        """A session has ended."""
        self.links.discard(link)
        self._outdated.discard(link)
        if link.server is not None:
            self._leaving.add(link)
        visitor = self._visitors.pop(link, None)
        if visitor is not None:
            name = visitor.database
            self._ended[name] = _sum(self._ended.get(name, Traffic(name)), _traffic(link, name))
        if not self.links:
            self.empty.set()

    @property
    def quiet(self) -> bool:
        """Whether every connection to the server is closed: with TLS that takes both sides."""
        self._leaving = {link for link in self._leaving if link.server is not None}
        return not self._leaving and not self.links

    def of(self, database: str) -> list[SessionView]:
        """The sessions of a database; of all, where it is empty."""
        return [link for link, visitor in self._visitors.items() if database in ("", visitor.database)]

    def of_client(self, number: int) -> list[SessionView]:
        """The session with this id, if it is ours."""
        return [link for link, visitor in self._visitors.items() if visitor.id == number]

    def outdate(self, database: str) -> None:
        """The connections that sessions of a database have to the server now are to be closed: each is, as it ends."""
        self._outdated.update(self.of(database))

    # -- pausing

    def disable(self, database: str) -> bool:
        """New sessions are refused from now on. Returns whether they were not before."""
        before = database in self.disabled
        self.disabled.add(database)
        return not before

    def enable(self, database: str) -> bool:
        """Ends `disable`. Returns whether there was one."""
        before = database in self.disabled
        self.disabled.discard(database)
        return before

    def is_paused(self, database: str) -> bool:
        """Whether new sessions of a database have to wait."""
        return self.all_paused or database in self.paused

    def pause(self, database: str) -> bool:
        """New sessions wait from now on. Returns whether they did not before."""
        before = self.all_paused if not database else database in self.paused
        if database:
            self.paused.add(database)
        else:
            self.all_paused = True
        return not before

    def resume(self, database: str) -> bool:
        """Ends a pause; the general one ends those of databases too. Returns whether there was one."""
        was = database in self.paused if database else self.all_paused or bool(self.paused)
        if database:
            self.paused.discard(database)
        else:
            self.all_paused = False
            self.paused.clear()
        self._resumed.set()
        self._resumed = asyncio.Event()
        return was

    async def resumed(self, database: str) -> None:
        """Waits until a database is not paused."""
        while self.is_paused(database):
            await self._resumed.wait()

    # -- reports

    def reports(self) -> tuple[SessionReport, ...]:
        """Every session that has said who it is."""
        return tuple(
            _report(link, visitor, outdated=link in self._outdated)
            for link, visitor in self._visitors.items()
        )

    def traffic(self) -> dict[str, Traffic]:
        """What went through since the start, by database."""
        sums = dict(self._ended)
        for link, visitor in self._visitors.items():
            name = visitor.database
            sums[name] = _sum(sums.get(name, Traffic(name)), _traffic(link, name))
        return sums

    def recent(self) -> tuple[float, tuple[Traffic, ...]]:
        """The last whole period: its seconds, and what went through. Before its end: the time since the start."""
        began, before = self._turned
        now = time.monotonic()
        if self._recent is None or now - began >= STATS_PERIOD:
            current = self.traffic()
            difference = {name: _difference(traffic, before.get(name)) for name, traffic in current.items()}
            self._recent = (now - began, difference) if now - began >= STATS_PERIOD else None
            if self._recent is None:
                return now - began, tuple(difference.values())
            self._turned = (now, current)
        seconds, found = self._recent
        return seconds, tuple(found.values())


def _traffic(link: SessionView, database: str) -> Traffic:
    replies = link.session.backend.replies
    # The login ends with a ReadyForQuery of its own.
    queries, transactions = max(0, replies.cycles - 1), max(0, replies.transactions - 1)
    return Traffic(database, 1, transactions, queries, link.received, link.sent)


def _sum(left: Traffic, right: Traffic) -> Traffic:
    return Traffic(
        left.database,
        left.sessions + right.sessions,
        left.transactions + right.transactions,
        left.queries + right.queries,
        left.received + right.received,
        left.sent + right.sent,
    )


def _difference(now: Traffic, before: Traffic | None) -> Traffic:
    if before is None:
        return now
    return Traffic(
        now.database,
        now.sessions - before.sessions,
        now.transactions - before.transactions,
        now.queries - before.queries,
        now.received - before.received,
        now.sent - before.sent,
    )


def _report(link: SessionView, visitor: ClientReport, *, outdated: bool) -> SessionReport:
    session = link.session
    at_rest = "idle" if session.at_rest else "active"
    return SessionReport(
        client=visitor,
        server=None if link.server is None else server_side(link.server, session.backend.key),
        state="waiting" if session.phase in _WAITING else at_rest,
        received=link.received,
        sent=link.sent,
        asking=session.phase is Phase.CONSULTING,
        close_needed=outdated,
    )
