"""Looks whether schemas of registered databases have changed, by a schedule and when one tells; refreshes those.

Owns the schedule and the report. What a refresh does is `schema_catalog.refresh`'s and the value reader's; definitions
are checked by `engine.definitions.checking.watch`, which notices the new snapshot. Of several engines over one store
one looks at a database at a time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import asyncpg
import structlog

from engine.app.schema_notices import SchemaNotices
from engine.core.ports import Upstream
from engine.linking.value_reader import refresh_values
from engine.metrics import Metrics
from engine.settings import CatalogSettings
from schema_catalog.drift_store import Finding
from schema_catalog.naming import dotted
from schema_catalog.pg import Pool
from schema_catalog.refresh import ConnectSettings, UnreachableError, digest_now, refresh
from schema_catalog.store import CatalogError, CatalogStore
from schema_catalog.types import Database
from schema_catalog.values import ValueStore

LONGEST_SLEEP = 60.0
"""Seconds until an engine asks again whether something is due: another one may have ended in between."""

QUIET = 1.0
"""Seconds from a notice to the look: a migration is many statements, and another engine may be looking."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class SchemaWatch:
    """The watch of one engine."""

    pool: Pool
    upstream: Upstream
    metrics: Metrics
    settings: CatalogSettings
    connect: ConnectSettings = field(default_factory=ConnectSettings)

    async def run(self) -> None:
        """Looks until cancelled; returns at once where the settings say never."""
        if self.settings.watch == 0:
            return
        notices = SchemaNotices(self.connect, self.settings.watch)
        try:
            while True:
                await self._round(notices)
                await notices.wait(min(self.settings.watch, LONGEST_SLEEP))
                await asyncio.sleep(min(self.settings.watch, QUIET))
        finally:
            await notices.aclose()

    async def _round(self, notices: SchemaNotices) -> None:
        try:
            for name in await self.look(notices.taken()):
                notices.tell(name)
            await notices.follow([entry.database for entry in await CatalogStore(self.pool).list()])
        except Exception as problem:  # noqa: BLE001 - costs one round, never the engine
            log.warning("schemas not watched", problem=f"{type(problem).__name__}: {problem}")

    async def look(self, told: frozenset[str] = frozenset()) -> frozenset[str]:
        """Looks at each database whose turn it is, and at those `told` of; raises the store's errors.

        Returns those of `told` that another engine was looking at, perhaps since before the change.
        """
        store = CatalogStore(self.pool)
        left: set[str] = set()
        for entry in await store.list():
            name = entry.database.name
            interval = 0.0 if name in told else self.settings.watch
            async with store.drift.turn(name, interval) as mine:
                if mine:
                    await self._look_at(store, entry.database)
                elif name in told:
                    left.add(name)
        self.metrics.renames.set(await store.drift.proposed())
        return frozenset(left)

    async def _look_at(self, store: CatalogStore, database: Database) -> None:
        last = await store.drift.last(database.name)
        try:
            # Before the snapshot: what changes in between makes another digest next time.
            digest = await digest_now(database, self.connect)
            if digest != await store.drift.digest(database.name):
                await refresh(store, database, self.connect)
                await self._read_values(store, database)
        except (UnreachableError, CatalogError, asyncpg.PostgresError) as problem:
            await store.drift.looked(database.name, None, str(problem))
            log.warning("schema not read", database=database.name, problem=str(problem))
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
