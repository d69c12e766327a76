"""Listens in the registered databases that tell by themselves when their schema has changed.

Owns these connections, one for each such database. What a notice leads to is `schema_watch`'s. A notice that is lost,
since a connection broke or a pooler stands in between, costs the wait for the next look.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import asyncpg

from schema_catalog.event_triggers import CHANNEL, installed
from schema_catalog.pg import Connection
from schema_catalog.refresh import ConnectSettings, UnreachableError, opened
from schema_catalog.types import Database


class SchemaNotices:
    """Of one engine. `again`: seconds until a database that does not tell is asked again whether it does."""

    def __init__(self, connect: ConnectSettings, again: float) -> None:
        self._connect = connect
        self._again = again
        self._listening: dict[str, tuple[str, Connection]] = {}
        self._tried: dict[str, float] = {}
        self._told: set[str] = set()

    async def follow(self, databases: Iterable[Database]) -> None:
        """Listens in those of `databases` that tell, and in no other; one that does not answer is passed over."""
        wanted = {each.name: each for each in databases}
        for name, (dsn, connection) in list(self._listening.items()):
            if connection.is_closed() or name not in wanted or wanted[name].dsn != dsn:
                del self._listening[name]
                self._tried.pop(name, None)
                await _close(connection, self._connect)
        for name, database in wanted.items():
            due = time.monotonic() - self._tried.get(name, -self._again) >= self._again
            if name not in self._listening and due:
                self._tried[name] = time.monotonic()
                await self._listen(database)

    async def _listen(self, database: Database) -> None:
        try:
            connection = await opened(database.dsn, self._connect)
        except UnreachableError:
            return
        try:
            if await installed(connection):
                await connection.add_listener(CHANNEL, lambda *_: self.tell(database.name))
                self._listening[database.name] = (database.dsn, connection)
                # What changed before is not told.
                self.tell(database.name)
                return
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            pass
        await _close(connection, self._connect)

    def tell(self, name: str) -> None:
        """The schema of a database may have changed."""
        self._told.add(name)

    def taken(self) -> frozenset[str]:
        """The names that were told since the last call."""
        told = frozenset(self._told)
        self._told.clear()
        return told

    async def aclose(self) -> None:
        """Ends all connections."""
        for _, connection in self._listening.values():
            await _close(connection, self._connect)
        self._listening.clear()


async def _close(connection: Connection, settings: ConnectSettings) -> None:
    try:
        await connection.close(timeout=settings.connect_timeout)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        connection.terminate()
