"""Suggested descriptions and synonyms at rest; owns the SQL of table `suggestion`.

They are decided on by functions of the schema `nl_catalog` (`sql/0017_suggestions.sql`).
"""

from __future__ import annotations

from collections.abc import Iterable

import asyncpg

from schema_catalog.pg import Pool
from schema_catalog.store import UnknownNameError
from schema_catalog.types import Suggestion


class SuggestionStore:
    """Over one store. Raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def elements(self, database: str) -> frozenset[tuple[str, ...]]:
        """The elements of a database for which something was suggested before, whatever became of it."""
        rows = await self._pool.fetch(
            "SELECT DISTINCT element FROM pgparley.suggestion WHERE database = $1", database
        )
        return frozenset(tuple(element) for (element,) in rows)

    async def add(self, database: str, suggestions: Iterable[Suggestion]) -> None:
        """Keeps suggestions, each once; raises `UnknownNameError`."""
        try:
            await self._pool.executemany(
                "INSERT INTO pgparley.suggestion (database, element, kind, suggestion) VALUES ($1, $2, $3, $4)"
                " ON CONFLICT DO NOTHING",
                [(database, list(each.element), each.kind.value, each.text) for each in suggestions],
            )
        except asyncpg.ForeignKeyViolationError:
            raise UnknownNameError(f'database "{database}" is not registered') from None
