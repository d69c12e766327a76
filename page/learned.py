"""What users' choices have taught, read as its reviewer; owns the SQL of that list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schema_catalog.pg import Connection

SHOWN = 200
"""Examples at most, the newest."""


@dataclass(frozen=True, slots=True)
class Example:
    """What somebody chose, corrected or rejected. `preferences`: what that says of their words."""

    number: int
    database: str
    asker: str
    question: str
    sql: str
    kind: str
    learned_at: datetime
    approved_at: datetime | None
    approved_by: str | None
    preferences: tuple[str, ...]


async def examples(connection: Connection) -> tuple[Example, ...]:
    """The newest examples: those that wait for approval first, then the approved ones."""
    rows = await connection.fetch(
        "SELECT example AS number, database, asker, question, sql, kind, learned_at, approved_at, approved_by,"
        " preferences"
        " FROM nl_catalog.learned WHERE kind <> 'rejected'"
        " ORDER BY approved_at IS NOT NULL, learned_at DESC, example DESC LIMIT $1",
        SHOWN,
    )
    return tuple(Example(**{**row, "preferences": tuple(row["preferences"])}) for row in rows)
