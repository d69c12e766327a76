"""How schemas changed, and the renames that wait for somebody to decide; owns the SQL of that list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schema_catalog.pg import Connection

SHOWN = 200
"""Changes at most, the newest."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two snapshots. `breaks`: what was said of the element, and what reads it."""

    number: int
    database: str
    what: str
    kind: str
    old: str | None
    new: str | None
    detail: str
    breaks: tuple[str, ...]
    found_at: datetime
    state: str
    decided_by: str | None
    decided_at: datetime | None

    @property
    def proposed(self) -> bool:
        """Whether somebody has to decide."""
        return self.state == "proposed"


async def changes(connection: Connection) -> tuple[Change, ...]:
    """The newest changes: proposed renames first."""
    rows = await connection.fetch(
        "SELECT id AS number, database, what, kind, old, new, detail, breaks, found_at, state,"
        " decided_by, decided_at"
        " FROM nl_catalog.drift ORDER BY state <> 'proposed', found_at DESC, id DESC LIMIT $1",
        SHOWN,
    )
    return tuple(Change(**{**row, "breaks": tuple(row["breaks"])}) for row in rows)
