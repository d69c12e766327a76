"""The wall before masked columns: what each database masks, by its schema and its server's views.

Owns what is asked of the server and how long that is kept. The check itself is `engine.statement.masked`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Protocol

from asyncpg import Record

from engine.guard import Analysis, Rules
from engine.statement.masked import Lineage, Masks, masks_of, refusal, said_masked
from engine.upstream.ttl_cache import TTLCache
from engine.values import wording
from engine.values.errors import DatabaseUnavailableError, UnsafeSQLError
from engine.values.ports import Catalog
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.pg import Connection
from schema_catalog.types import Database, Snapshot

_LINEAGE = files("engine").joinpath("upstream", "sql", "lineage.sql")


class Ask(Protocol):
    """Runs a query on the system catalogs of a database."""

    async def __call__(
        self, database: Database, query: Callable[[Connection], Awaitable[list[Record]]], /
    ) -> list[Record]:
        """What `query` gives."""


class Masking:
    """Refuses statements that read what is masked. `catalog` None: nothing is. `ask`: of the server's catalogs."""

    def __init__(self, catalog: Catalog | None, ask: Ask, ttl: float, clock: Callable[[], float]) -> None:
        self._catalog = catalog
        self._ask = ask
        # With its snapshot: while the answer counts, no other one has its id.
        self._masks = TTLCache[tuple[Database, int], tuple[Snapshot, Masks]](ttl, clock)

    async def check(self, database: Database, analysis: Analysis, rules: Rules) -> None:
        """Raises `UnsafeSQLError`, and `DatabaseUnavailableError` where it cannot be known what is masked."""
        if self._catalog is None:
            return
        snapshot = await self._snapshot(self._catalog, database)
        if snapshot is None or not said_masked(snapshot):
            return
        key = database, id(snapshot)
        _, masks = await self._masks.get(key, lambda: self._read(database, snapshot, rules))
        why = await asyncio.to_thread(refusal, analysis, snapshot, masks, rules)
        if why is not None:
            raise UnsafeSQLError.told(wording.MASKED, why=why)

    async def _snapshot(self, catalog: Catalog, database: Database) -> Snapshot | None:
        try:
            entries = await catalog.entries()
        except StoreUnavailableError as error:
            raise DatabaseUnavailableError(
                f"what is masked in {database.name} is not known", hint="The engine's store does not answer."
            ) from error
        return next((snapshot for other, snapshot in entries if other.name == database.name), None)

    async def _read(self, database: Database, snapshot: Snapshot, rules: Rules) -> tuple[Snapshot, Masks]:
        lineage = _LINEAGE.read_text("utf-8")
        rows = await self._ask(database, lambda connection: connection.fetch(lineage))
        return snapshot, await asyncio.to_thread(masks_of, snapshot, _lineage(rows), rules)


def _lineage(rows: list[Record]) -> Lineage:
    def of(kind: str) -> list[Record]:
        return [row for row in rows if row["kind"] == kind]

    return Lineage(
        {tuple(row["element"]): row["definition"] for row in of("view")},
        [(tuple(row["element"]), tuple(row["source"])) for row in of("child")],
        [(tuple(row["element"]), tuple(row["source"])) for row in of("generated")],
    )
