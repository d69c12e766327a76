"""The sessions of a worker, each from first byte to last, their traffic, and the databases closed to new ones."""

from __future__ import annotations

import asyncio
import time

from proxy.console.reports import SessionReport, Traffic
from proxy.net.peers import server_side
from proxy.net.session.session_traffic import SessionTraffic
from proxy.protocol.session_phases import Phase

STATS_PERIOD = 60.0
"""Seconds over which averages are taken (PgBouncer's `stats_period`)."""

_WAITING = frozenset({Phase.STARTUP, Phase.DIALLING, Phase.AUTHENTICATING})


class SessionRegistry:
    """The sessions of one worker."""

    def __init__(self) -> None:
        self.connections: dict[SessionTraffic, None] = {}
        """In the order in which they came."""
        self.paused: set[str] = set()
        """Databases of which new sessions wait; an empty name is all of them."""
        self.disabled: set[str] = set()
        """Those of which new sessions are refused."""
        self._resumed = asyncio.Event()
        self._closing: set[SessionTraffic] = set()
        self._outdated: set[SessionTraffic] = set()
        self._ended: dict[str, Traffic] = {}
        self._period_start: tuple[float, dict[str, Traffic]] = (time.monotonic(), {})
        self._recent: tuple[float, dict[str, Traffic]] | None = None

    # -- coming and going

    def add(self, connection: SessionTraffic) -> None:
        """A session begins."""
        self.connections[connection] = None

    def remove(self, connection: SessionTraffic) -> None:
        """A session has ended."""
        del self.connections[connection]
        self._outdated.discard(connection)
        if connection.server is not None:
            self._closing.add(connection)
        _add(self._ended, connection)

    @property
    def drained(self) -> bool:
        """Whether every connection to the server is closed: with TLS both sides have to close."""
        self._closing = {connection for connection in self._closing if connection.server is not None}
        return not self._closing and not self.connections

    def of_database(self, database: str) -> list[SessionTraffic]:
        """The sessions of a database; of all, where it is empty."""
        return [each for each in self.connections if database in ("", each.client.database)]

    def of_client(self, number: int) -> list[SessionTraffic]:
        """The session with this id, if it is ours."""
        return [each for each in self.connections if each.client.id == number]

    def mark_outdated(self, database: str) -> None:
        """Marks a database's sessions: their connections to the server are to be closed, as each session ends."""
        self._outdated.update(self.of_database(database))

    # -- pausing

    def is_paused(self, database: str) -> bool:
        """Whether new sessions of a database have to wait."""
        return not self.paused.isdisjoint(("", database))

    def resume(self, database: str) -> bool:
        """Ends a pause; the general one ends those of databases too. Returns whether there was one."""
        ended = self.paused & {database} if database else set(self.paused)
        self.paused -= ended
        self._resumed.set()
        self._resumed = asyncio.Event()
        return bool(ended)

    async def resumed(self, database: str) -> None:
        """Waits until a database is not paused."""
        while self.is_paused(database):
            await self._resumed.wait()

    # -- reports

    def reports(self) -> tuple[SessionReport, ...]:
        """A report of every session."""
        return tuple(_report(each, outdated=each in self._outdated) for each in self.connections)

    def traffic(self) -> dict[str, Traffic]:
        """The traffic since the start, by database."""
        sums = dict(self._ended)
        for connection in self.connections:
            _add(sums, connection)
        return sums

    def recent(self) -> tuple[float, tuple[Traffic, ...]]:
        """Seconds and traffic of the last complete period; before the first has ended, those since the start."""
        began, before = self._period_start
        now = time.monotonic()
        if self._recent is None or now - began >= STATS_PERIOD:
            current = self.traffic()
            difference = {
                name: traffic.plus(before.get(name, Traffic(name)), -1) for name, traffic in current.items()
            }
            self._recent = (now - began, difference) if now - began >= STATS_PERIOD else None
            if self._recent is None:
                return now - began, tuple(difference.values())
            self._period_start = (now, current)
        seconds, found = self._recent
        return seconds, tuple(found.values())


def _add(sums: dict[str, Traffic], connection: SessionTraffic) -> None:
    """Adds the traffic of `connection` to that of its database."""
    name = connection.client.database
    replies = connection.session.backend.replies
    # The login ends with a ReadyForQuery of its own.
    queries, transactions = max(0, replies.cycles - 1), max(0, replies.transactions - 1)
    traffic = Traffic(name, 1, transactions, queries, connection.received, connection.sent)
    sums[name] = sums.get(name, Traffic(name)).plus(traffic)


def _report(connection: SessionTraffic, *, outdated: bool) -> SessionReport:
    session = connection.session
    at_rest = "idle" if session.at_rest else "active"
    client, server = connection.client, connection.server
    return SessionReport(
        client=client,
        server=None if server is None else server_side(server, client.connected, session.backend.key),
        state="waiting" if session.phase in _WAITING else at_rest,
        received=connection.received,
        sent=connection.sent,
        asking=session.phase is Phase.CONSULTING,
        close_needed=outdated,
    )
