"""The catalog as it would be after a file was imported; the store keeps nothing of it.

Owns the transaction that does the import and takes it back. What an import does is `schema_catalog.knowledge_files`'s.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import asyncpg

from engine.core.ports import Upstream
from engine.definitions.checking import check_definitions
from engine.errors import InvalidSettingError, ModelUnavailableError
from engine.evaluation.types import TrialReply, TrialRequest
from schema_catalog.catalog import CachedCatalog
from schema_catalog.definitions import DefinitionStore, State
from schema_catalog.knowledge import Said
from schema_catalog.knowledge_files.format import read_text
from schema_catalog.knowledge_files.merge import apply
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogError, CatalogStore, read_said

KEPT = 4
"""Trials that an engine remembers, the newest."""


@dataclass(frozen=True, slots=True)
class _Imported:
    """What the store said inside the transaction, and what the command says of it."""

    said: dict[str, Said]
    reply: TrialReply


class _TrialStore(CatalogStore):
    """The store as it is, but for what is said of databases."""

    def __init__(self, pool: Pool, said: dict[str, Said]) -> None:
        super().__init__(pool)
        self._said = said

    async def said(self) -> dict[str, Said]:
        return self._said


class Trials:
    """The trials of one engine."""

    def __init__(self, pool: Pool, upstream: Upstream) -> None:
        self._pool = pool
        self._upstream = upstream
        self._numbers = itertools.count(1)
        self._kept: dict[str, CachedCatalog] = {}

    async def begin(self, request: TrialRequest) -> TrialReply:
        """Tries a file.

        Raises `InvalidSettingError` where it cannot be imported, `ModelUnavailableError` without the store.
        """
        name = str(next(self._numbers))
        try:
            imported = await self._imported(name, request)
        except CatalogError as problem:
            raise InvalidSettingError(
                str(problem),
                hint="Nothing was tried. `pgparley catalog diff` says what the file would change.",
            ) from problem
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as problem:
            raise ModelUnavailableError(
                "the engine's store does not answer", detail=str(problem), hint="Check [engine] store."
            ) from problem
        self._kept[name] = CachedCatalog(_TrialStore(self._pool, imported.said))
        for old in list(self._kept)[:-KEPT]:
            del self._kept[old]
        return imported.reply

    def catalog(self, name: str) -> CachedCatalog:
        """The catalog of a trial; raises `InvalidSettingError` where the engine has forgotten it."""
        if name not in self._kept:
            raise InvalidSettingError(
                "the engine does not know this trial any more",
                detail="It was started anew, or others have tried files since.",
                hint="Run the command again.",
            )
        return self._kept[name]

    async def _imported(self, name: str, request: TrialRequest) -> _Imported:
        source = read_text(request.name, request.text)
        async with self._pool.acquire() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                steps = await apply(connection, source)
                refused = await self._refused(connection)
                said = await read_said(connection)
            finally:
                await transaction.rollback()
        changes = tuple(
            f"{step.difference.sign} {step.shown}" for step in sorted(steps, key=lambda s: s.fact.key)
        )
        return _Imported(said, TrialReply(name, changes, refused))

    async def _refused(self, connection: Connection) -> tuple[str, ...]:
        """Checks what the file defines, and says what of it would not count."""
        checked = await check_definitions(
            DefinitionStore(connection), CatalogStore(self._pool), self._upstream
        )
        return tuple(
            f"{stored.database}: the {stored.kind} {stored.name} would be refused: {verdict.reason}"
            for stored, verdict in checked
            if verdict.state is State.REFUSED
        )
