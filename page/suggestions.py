"""Descriptions and synonyms that the language model proposes, read as their reviewer; owns the SQL of that list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schema_catalog.pg import Connection

SHOWN = 200
"""Suggestions at most."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to say of an element. `kind`: description or synonym."""

    number: int
    database: str
    element: str
    kind: str
    suggestion: str
    suggested_at: datetime


async def waiting(connection: Connection) -> tuple[Suggestion, ...]:
    """Those that nobody has decided on, by element."""
    rows = await connection.fetch(
        "SELECT id AS number, database, element, kind, suggestion, suggested_at FROM nl_catalog.suggestions"
        " WHERE state = 'proposed' ORDER BY database, element, kind, id LIMIT $1",
        SHOWN,
    )
    return tuple(Suggestion(**row) for row in rows)
