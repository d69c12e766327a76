"""Keeps the catalog up to date: looks at schemas on a schedule, and at once where a database tells.

Listens in the registered databases that tell by themselves when their schema has changed.

Owns these connections, one for each such database. What a notice leads to is `schema_watch`'s. A notice that is lost,
since a connection broke or a pooler stands in between, costs the wait for the next look.

Looks whether the schemas of the registered databases have changed, and refreshes those that have.

Looks on a schedule, and within a second or two where a database tells or somebody asks (`nl_catalog.refresh`);
registers what `nl_catalog.register` asks for. Owns the schedule and the report. What a refresh does is
`schema_catalog.refresh`'s and the value reader's; definitions are checked by `engine.definitions.checking.watch`, which
notices the new snapshot. Of several engines over one store one looks at a database at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import asyncpg
import structlog

from engine.core.background import Background
from engine.core.ports import Upstream
from engine.errors import for_log
from engine.linking.value_reader import refresh_values
from engine.metrics import Metrics
from engine.settings import CatalogSettings
from schema_catalog.drift_store import Finding
from schema_catalog.dsn import as_uri, with_dbname
from schema_catalog.event_triggers import CHANNEL, installed
from schema_catalog.naming import dotted
from schema_catalog.pg import Connection, Pool
from schema_catalog.refresh import ConnectSettings, UnreachableError, describe, digest_now, opened, refresh
from schema_catalog.store import CatalogError, CatalogStore, Registrations
from schema_catalog.types import Database
from schema_catalog.values import ValueStore


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


LONGEST_SLEEP = 60.0
"""Seconds until an engine asks again whether something is due: another one may have ended in between."""

INTERVAL = 1.0
"""Seconds between two looks for what somebody asked for."""

_EVER = 1e9
"""Seconds after which nobody looks again by themselves."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class SchemaWatch:
    """The watch of one engine. `login`: a connection string by which databases of the store's server are read."""

    pool: Pool
    upstream: Upstream
    metrics: Metrics
    settings: CatalogSettings
    login: str = field(repr=False)
    connect: ConnectSettings = field(default_factory=ConnectSettings)
    background: Background = field(default_factory=Background)

    async def run(self) -> None:
        """Looks until cancelled; where the settings say never, at what somebody asks for alone."""
        notices = SchemaNotices(self.connect, self.settings.watch)
        due = 0.0
        try:
            while True:
                told = notices.taken()
                due = await self._round(notices, told, due)
                await asyncio.sleep(self.background.pause("schemas", INTERVAL))
        finally:
            await notices.aclose()

    async def _round(self, notices: SchemaNotices, told: frozenset[str], due: float) -> float:
        """Looks where it is `due`, or a database has `told`; returns when it is due again, by `time.monotonic`."""
        try:
            if self.settings.watch and (told or time.monotonic() >= due):
                due = time.monotonic() + min(self.settings.watch, LONGEST_SLEEP)
                for name in await self.look(told):
                    notices.tell(name)
                await notices.follow([entry.database for entry in await CatalogStore(self.pool).list()])
            await self.answer()
            self.background.worked("schemas")
        except Exception as problem:  # noqa: BLE001 - costs one round, never the engine
            self.background.failed("schemas", problem)
        return due

    async def look(self, told: frozenset[str] = frozenset()) -> frozenset[str]:
        """Looks at each database whose turn it is, and at those `told` of; raises the store's errors.

        Returns those of `told` that another engine was looking at, perhaps since before the change.
        """
        store = CatalogStore(self.pool)
        databases = [entry.database for entry in await store.list()]
        left = await self._look_at_each(store, databases, self.settings.watch, told)
        return frozenset(left & told)

    async def answer(self) -> None:
        """Registers, and looks at, what somebody asked for; raises the store's errors."""
        store, registrations = CatalogStore(self.pool), Registrations(self.pool)
        for name in await registrations.waiting():
            async with store.drift.turn(name, _EVER) as mine:
                if mine:
                    await self._register(store, registrations, name)
        asked = await store.drift.asked()
        if asked:
            databases = [entry.database for entry in await store.list() if entry.database.name in asked]
            await self._look_at_each(store, databases, _EVER)

    async def _register(self, store: CatalogStore, registrations: Registrations, name: str) -> None:
        try:
            database = await describe(name, with_dbname(as_uri(self.login), name), (), self.connect)
            await store.add(database)
        except (UnreachableError, CatalogError) as problem:
            await registrations.failed(name, str(problem))
            log.warning("database not registered", database=name, problem=for_log(problem))
            return
        await registrations.done(name)
        log.info("database registered", database=name)
        await self._look_at(store, database)

    async def _look_at_each(
        self,
        store: CatalogStore,
        databases: list[Database],
        interval: float,
        told: frozenset[str] = frozenset(),
    ) -> set[str]:
        """Returns those that were not looked at: not due, or another engine's at the moment."""
        left: set[str] = set()
        for database in databases:
            name = database.name
            async with store.drift.turn(name, 0.0 if name in told else interval) as mine:
                if mine:
                    await self._look_at(store, database)
                else:
                    left.add(name)
        self.metrics.renames.set(await store.drift.proposed())
        return left

    async def _look_at(self, store: CatalogStore, database: Database) -> None:
        last = await store.drift.last(database.name)
        await store.drift.looking(database.name)
        try:
            # Before the snapshot: what changes in between makes another digest next time.
            digest = await digest_now(database, self.connect)
            if digest != await store.drift.digest(database.name):
                await refresh(store, database, self.connect)
                await self._read_values(store, database)
        except (UnreachableError, CatalogError, asyncpg.PostgresError) as problem:
            await store.drift.looked(database.name, None, str(problem))
            log.warning("schema not read", database=database.name, problem=for_log(problem))
            return
        await store.drift.looked(database.name, digest)
        for finding in await store.drift.found_since(database.name, last):
            self._report(database.name, finding)

    async def _read_values(self, store: CatalogStore, database: Database) -> None:
        snapshot = await store.newest(database.name)
        if snapshot is not None:
            await refresh_values(ValueStore(self.pool), database, snapshot, self.upstream, self.connect)

    def _report(self, database: str, finding: Finding) -> None:
        self.metrics.drift.labels(database, finding.what).inc()
        log.info(
            "schema changed",
            database=database,
            what=finding.what,
            old=dotted(finding.old),
            new=dotted(finding.new),
            state=finding.state,
            breaks=list(finding.breaks),
        )
