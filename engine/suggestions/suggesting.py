"""Has the language model propose descriptions and synonyms for tables and columns that lack them, and keeps them.

What is kept counts for nothing until a DBA accepts it (`schema_catalog/sql/0006_drift.sql`). Hidden elements are
in no prompt; of sensitive columns, and of those that nobody allowed, no value is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from engine.core.deadline import Deadline
from engine.core.ports import Catalog, LanguageModel
from engine.errors import InvalidSettingError, ModelUnavailableError
from engine.suggestions.types import SuggestReply, SuggestRequest
from engine.suggestions.written import Asked, asking, grammar, lacking, suggestions
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.naming import dotted
from schema_catalog.pg import Pool
from schema_catalog.store import SuggestionStore, UnknownNameError
from schema_catalog.types import ColumnKey, Snapshot, Suggestion, Table
from schema_catalog.values import ValueStore

TOGETHER = 12
"""Elements that one call of the model is about."""

SECONDS = 120.0
"""For one call."""

TOKENS = 60
"""For one element."""

_VALUES = 100_000
"""Values of a database that are looked through."""


@dataclass(frozen=True, slots=True)
class Suggesting:
    """The verb. `pool`: of the store."""

    catalog: Catalog
    model: LanguageModel
    pool: Pool

    async def suggest(self, request: SuggestRequest) -> SuggestReply:
        """Suggests for one table.

        Raises `InvalidSettingError` where the database or table is not there, and the model's and the store's errors.
        """
        try:
            return await self._suggest(request)
        except UnknownNameError as problem:
            raise InvalidSettingError(
                str(problem), hint="pgparley catalog list shows the names."
            ) from problem
        except (StoreUnavailableError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as problem:
            raise ModelUnavailableError(
                "the engine's store does not answer", detail=str(problem), hint="Check [engine] store."
            ) from problem

    async def _suggest(self, request: SuggestRequest) -> SuggestReply:
        snapshot = await self._snapshot(request.database)
        store = SuggestionStore(self.pool)
        suggested = await store.elements(request.database)
        missed = await store.missed(request.database) if request.missed else None
        waiting = [
            (table, asked)
            for table in _wanted(snapshot, request.table)
            if request.after is None or table.key > request.after
            if (
                asked := [one for one in lacking(table, suggested) if missed is None or one.element in missed]
            )
        ]
        if not waiting:
            return SuggestReply()
        table, asked = waiting[0]
        found = await self._written(snapshot, table, asked)
        await store.add(request.database, found)
        return SuggestReply(table.key, found, len(waiting) - 1)

    async def _snapshot(self, name: str) -> Snapshot:
        for database, snapshot in await self.catalog.entries():
            if database.name == name:
                return snapshot
        raise UnknownNameError(f'database "{name}" is not registered, or all of it is hidden')

    async def _written(
        self, snapshot: Snapshot, table: Table, asked: Sequence[Asked]
    ) -> tuple[Suggestion, ...]:
        values = await self._values(snapshot.database, table)
        found: list[Suggestion] = []
        for first in range(0, len(asked), TOGETHER):
            some = asked[first : first + TOGETHER]
            completion = await self.model.complete(
                asking(snapshot, table, some, values),
                deadline=Deadline(time.monotonic() + SECONDS),
                max_tokens=TOKENS * len(some),
                grammar=grammar(some) if self.model.grammars else None,
            )
            found += suggestions(completion.text, some)
        return tuple(found)

    async def _values(self, database: str, table: Table) -> Mapping[ColumnKey, Sequence[str]]:
        """The kept values of a table's columns, but for what is sensitive by now."""
        store = ValueStore(self.pool)
        sensitive = await store.sensitive(database)
        return {
            each.key: each.values
            for each in await store.values(database, _VALUES)
            if each.key[:2] == table.key and sensitive.isdisjoint((each.key, each.key[:2]))
        }


def _wanted(snapshot: Snapshot, name: str | None) -> Sequence[Table]:
    if name is None:
        return snapshot.tables
    found = [each for each in snapshot.tables if name in {dotted(each.key), snapshot.display_name(each)}]
    if not found:
        raise InvalidSettingError(
            f'"{name}" is no table of "{snapshot.database}", or it is hidden',
            hint="nl_catalog.tables lists them.",
        )
    return found
