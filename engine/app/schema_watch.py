"""Keeps the catalog up to date: looks whether schemas of registered databases have changed, and refreshes those.

Looks on a schedule, and within a second or two where somebody asks (`nl_catalog.refresh`); registers what
`nl_catalog.register` asks for. Owns the schedule and the report. What a refresh does is `schema_catalog.refresh`'s and
the value reader's; definitions are checked by `engine.app.checking.watch`, which notices the new snapshot. Of
several engines over one store one looks at a database at a time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import asyncpg
import structlog

from engine.app.metrics import Metrics
from engine.link.value_reader import refresh_values
from engine.values.background import Background
from engine.values.errors import for_log
from engine.values.ports import Upstream
from engine.values.settings import CatalogSettings
from schema_catalog.drift_store import Finding
from schema_catalog.dsn import as_uri, with_dbname
from schema_catalog.naming import dotted
from schema_catalog.pg import Pool
from schema_catalog.refresh import ConnectSettings, UnreachableError, describe, digest_now, refresh
from schema_catalog.store import CatalogError, CatalogStore, Registrations
from schema_catalog.types import Database
from schema_catalog.values import ValueStore

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
        due = 0.0

        async def step() -> None:
            nonlocal due
            if self.settings.watch and time.monotonic() >= due:
                due = time.monotonic() + min(self.settings.watch, LONGEST_SLEEP)
                await self.look()
            await self.answer()

        await self.background.repeat("schemas", INTERVAL, step)

    async def look(self) -> None:
        """Looks at each database whose turn it is; raises the store's errors."""
        store = CatalogStore(self.pool)
        databases = [entry.database for entry in await store.list()]
        await self._look_at_each(store, databases, self.settings.watch)

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

    async def _look_at_each(self, store: CatalogStore, databases: list[Database], interval: float) -> None:
        """Passes over those that are not due, or another engine's at the moment."""
        for database in databases:
            async with store.drift.turn(database.name, interval) as mine:
                if mine:
                    await self._look_at(store, database)
        self.metrics.renames.set(await store.drift.proposed())

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
