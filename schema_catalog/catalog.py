"""The catalog as the engine reads it: every registered database with its newest snapshot.

Owns the cache in front of the store: one small query a question tells whether anything changed, so that a
change is seen at the next question and an unchanged catalog costs one row. Snapshots that did not change stay
the same objects, by which readers may key what they derive. This is where what a DBA says of a schema joins it.
"""

from __future__ import annotations

import asyncio

import asyncpg

from schema_catalog.knowledge import Said, described
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, Snapshot

Entries = tuple[tuple[Database, Snapshot], ...]


SECONDS = 5.0
"""That a look at the store may take."""


class StoreUnavailableError(Exception):
    """The store does not answer, or does not hold what it should."""


class CachedCatalog:
    """`engine.values.ports.Catalog` over a store."""

    def __init__(self, store: CatalogStore) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._version: int | None = None
        self._entries: Entries = ()
        self._snapshots: dict[str, tuple[object, Snapshot]] = {}
        self._described: dict[str, tuple[Snapshot, Said | None, Snapshot | None]] = {}

    async def entries(self) -> Entries:
        """Every database that has a snapshot and is not hidden, by name; raises `StoreUnavailableError`."""
        try:
            async with asyncio.timeout(SECONDS), self._lock:
                version = await self._store.version()
                if version != self._version:
                    self._entries = await self._load()
                    self._version = version
                return self._entries
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailableError("the catalog's store does not answer") from error

    async def _load(self) -> Entries:
        # Read after the version: what changes in between is read now and once more at the next question.
        listed = [entry for entry in await self._store.list() if entry.snapshot_id is not None]
        known = self._snapshots
        stale = {e.snapshot_id for e in listed if known.get(e.database.name, (None,))[0] != e.version}
        fresh = await self._store.snapshots(number for number in stale if number is not None)
        self._snapshots = {}
        for entry in listed:
            name = entry.database.name
            if entry.snapshot_id in fresh:
                self._snapshots[name] = (entry.version, fresh[entry.snapshot_id])
            elif name in known and entry.snapshot_id not in stale:
                self._snapshots[name] = known[name]
        await self._describe()
        shown = [(entry.database, self._described.get(entry.database.name)) for entry in listed]
        return tuple(
            (database, held[2]) for database, held in shown if held is not None and held[2] is not None
        )

    async def _describe(self) -> None:
        of_database = await self._store.said()
        found = {}
        for name, (_, snapshot) in self._snapshots.items():
            said = of_database.get(name)
            held = self._described.get(name)
            if held is None or held[0] is not snapshot or held[1] != said:
                shown = snapshot if said is None else await asyncio.to_thread(described, snapshot, said)
                held = (snapshot, said, shown)
            found[name] = held
        self._described = found
