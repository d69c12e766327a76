"""What a DBA defined, at rest in the store, with what checking it found.

Owns the SQL of table `definition`, which the functions of the schema `nl_catalog` write (`sql/0005_definitions.sql`).
Whether a database takes a definition is the engine's to find out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

import asyncpg
import msgspec

from schema_catalog.naming import dotted
from schema_catalog.pg import Connection, Pool
from schema_catalog.types import ColumnKey, Term

Element = tuple[str, ...]
"""(schema, table) or (schema, table, column)."""


@dataclass(frozen=True, slots=True)
class Join:
    """A declared reference: each row of the column's table has at most one of the other's, with an equal value."""

    column: ColumnKey
    referred: ColumnKey


@dataclass(frozen=True, slots=True)
class VerifiedQuery:
    """A question with the statement that answers it."""

    question: str
    sql: str


Definition = Join | Term | VerifiedQuery


class State(StrEnum):
    """What is known of a definition. Only one that is checked is used."""

    UNCHECKED = "unchecked"
    CHECKED = "checked"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Stored:
    """A definition of `database`. `kind`, `key` and `body` identify it as it was read."""

    database: str
    definition: Definition
    kind: str = field(repr=False)
    key: tuple[str, ...] = field(repr=False)
    body: str = field(repr=False)

    @property
    def place(self) -> tuple[str, str, list[str]]:
        """Its primary key in the store."""
        return (self.database, self.kind, list(self.key))

    @property
    def name(self) -> str:
        """What a DBA knows it by."""
        if isinstance(self.definition, Join):
            return " = ".join(map(dotted, (self.key[:3], self.key[3:])))
        return self.key[0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found. `reason`: why it is refused, or what could not be checked. `reads`: in order."""

    state: State
    reason: str | None = None
    reads: tuple[Element, ...] = ()


_ROWS = "SELECT d.database, d.kind, d.element, d.body::text, d.reads::text FROM pgparley.definition d"


class DefinitionStore:
    """The definitions of all databases, also in a transaction. Raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool | Connection) -> None:
        self._pool = pool

    async def of_schemas(self) -> tuple[Stored, ...]:
        """Joins and terms that count."""
        rows = await self._pool.fetch(
            f"{_ROWS} WHERE d.state = 'checked' AND d.kind <> 'query' ORDER BY d.database, d.kind, d.element"
        )
        return tuple(map(_stored, rows))

    async def pending(self, database: str | None = None) -> tuple[Stored, ...]:
        """Those, of one database or all, that are new, or were last checked before the newest snapshot was taken."""
        rows = await self._pool.fetch(
            f"{_ROWS} JOIN pgparley.database b ON b.name = d.database JOIN pgparley.snapshot s ON s.id = b.newest"
            " WHERE (d.checked_at IS NULL OR d.checked_at < s.taken_at) AND d.database = coalesce($1, d.database)"
            " ORDER BY d.database, d.kind, d.element",
            database,
        )
        return tuple(map(_stored, rows))

    async def note(self, stored: Stored, verdict: Verdict) -> None:
        """Keeps what was found, unless the definition was changed meanwhile."""
        await self._pool.execute(
            "UPDATE pgparley.definition SET state = $5, reason = $6, reads = $7::jsonb, checked_at = clock_timestamp()"
            " WHERE (database, kind, element) = ($1, $2, $3) AND body = $4::jsonb",
            *(*stored.place, stored.body, verdict.state.value, verdict.reason),
            msgspec.json.encode(verdict.reads).decode(),
        )

    async def postpone(self, stored: Stored, reason: str) -> None:
        """Notes why it could not be checked yet; it stays pending."""
        await self._pool.execute(
            "UPDATE pgparley.definition SET reason = $4"
            " WHERE (database, kind, element) = ($1, $2, $3) AND reason IS DISTINCT FROM $4",
            *(*stored.place, reason),
        )


def _stored(row: asyncpg.Record) -> Stored:
    database, kind, element, body, reads = row
    definition: Definition
    if kind == "join":
        definition = Join(_column(element[:3]), _column(element[3:]))
    elif kind == "query":
        definition = msgspec.json.decode(body, type=VerifiedQuery)
    else:
        term = msgspec.json.decode(body, type=Term)
        definition = replace(term, reads=msgspec.json.decode(reads, type=tuple[Element, ...]))
    return Stored(database, definition, kind, tuple(element), body)


def _column(names: list[str]) -> ColumnKey:
    schema, table, column = names
    return (schema, table, column)
