"""Values of columns that a DBA allowed to be shown to a language model, at rest in the store.

Owns the SQL of table `value_column`, but what `nl_catalog.allow_values` and `deny_values` do. A column that is not in
it has no values here; reading them, and showing them to askers, is the engine's. The table is readable by the owner of
the schema alone, as the others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from schema_catalog.personal import PersonalKind
from schema_catalog.pg import Pool
from schema_catalog.types import ColumnKey

TEXT_TYPES = ("text", "character varying", "character", "bpchar", "citext", "name")
"""Types of text, without a length."""


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Values of a column, commonest first. `more`: the column has others.

    `counts`: rows that have each of `values`; empty where that is not known. `least`, `greatest`: of numbers and times.
    `personal`: the kind of personal data that they look like. `personal_allowed`: prompts may list them even so.
    """

    key: ColumnKey
    values: tuple[str, ...]
    more: bool = False
    counts: tuple[int, ...] = ()
    least: str | None = None
    greatest: str | None = None
    personal: PersonalKind | None = None
    personal_allowed: bool = False


Version = tuple[int, int, int]
"""Equal where a database's kept values are: rows, and the newest and the sum of their revisions."""


class ValueStore:
    """The columns that were allowed, and their values. Raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def sensitive(self, database: str) -> frozenset[tuple[str, ...]]:
        """Tables and columns of which no value may be kept, whoever allows it."""
        rows = await self._pool.fetch("SELECT pgparley.sensitive($1)", database)
        return frozenset(tuple(element) for (element,) in rows)

    async def allowed(self, database: str) -> tuple[ColumnKey, ...]:
        """The allowed columns of a database, by name."""
        rows = await self._pool.fetch(
            'SELECT schema, "table", "column" FROM pgparley.value_column WHERE database = $1 ORDER BY 1, 2, 3',
            database,
        )
        return tuple(map(_key, rows))

    async def keep(self, database: str, read: ColumnValues) -> None:
        """Replaces the values of an allowed column; does nothing where it is not allowed any more."""
        await self._pool.execute(
            "UPDATE pgparley.value_column SET stored = $5, more = $6, problem = NULL, read_at = now(),"
            " counts = $7, least = $8, greatest = $9, personal = $10"
            ' WHERE database = $1 AND schema = $2 AND "table" = $3 AND "column" = $4',
            database,
            *read.key,
            list(read.values),
            read.more,
            list(read.counts),
            read.least,
            read.greatest,
            read.personal,
        )

    async def failed(self, database: str, column: ColumnKey, problem: str, *, forget: bool) -> None:
        """Notes why a column could not be read, and forgets its values where `forget`."""
        await self._pool.execute(
            "UPDATE pgparley.value_column SET problem = $5,"
            " stored = CASE WHEN $6 THEN '{}' ELSE stored END, more = more AND NOT $6,"
            " counts = CASE WHEN $6 THEN '{}' ELSE counts END,"
            " least = CASE WHEN NOT $6 THEN least END, greatest = CASE WHEN NOT $6 THEN greatest END"
            ' WHERE database = $1 AND schema = $2 AND "table" = $3 AND "column" = $4',
            database,
            *column,
            problem,
            forget,
        )

    async def versions(self, databases: Sequence[str]) -> dict[str, Version]:
        """The version of each database's values; those without an allowed column are left out."""
        rows = await self._pool.fetch(
            "SELECT database, count(*), max(revision), sum(revision)::bigint AS sum"
            " FROM pgparley.value_column WHERE database = ANY ($1::text[]) GROUP BY database",
            list(databases),
        )
        return {row["database"]: (row["count"], row["max"], row["sum"]) for row in rows}

    async def values(self, database: str, limit: int) -> tuple[ColumnValues, ...]:
        """The kept values, column by column in order, at most `limit` in all."""
        found: list[ColumnValues] = []
        async with self._pool.acquire() as connection, connection.transaction():
            rows = connection.cursor(
                'SELECT schema, "table", "column", stored, more, counts, least, greatest, personal, personal_allowed'
                " FROM pgparley.value_column"
                " WHERE database = $1 AND (cardinality(stored) > 0 OR least IS NOT NULL)"
                ' ORDER BY schema COLLATE "C", "table" COLLATE "C", "column" COLLATE "C"',
                database,
            )
            async for row in rows:
                kept = tuple(row["stored"][:limit])
                limit -= len(kept)
                more = row["more"] or len(kept) < len(row["stored"])
                found.append(
                    ColumnValues(
                        _key(row),
                        kept,
                        more,
                        tuple(row["counts"][: len(kept)]),
                        row["least"],
                        row["greatest"],
                        None if row["personal"] is None else PersonalKind(row["personal"]),
                        row["personal_allowed"],
                    )
                )
                if limit <= 0:
                    break
        return tuple(found)


def _key(row: asyncpg.Record) -> ColumnKey:
    return (row["schema"], row["table"], row["column"])
