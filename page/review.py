"""What somebody has to look at: how schemas changed, what users taught, what the model suggests and costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from schema_catalog.pg import Connection

SHOWN = 200
"""Lines of a list at most, the newest."""


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


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to say of an element. `kind`: description or synonym."""

    number: int
    database: str
    element: str
    kind: str
    suggestion: str
    suggested_at: datetime


async def suggestions(connection: Connection) -> tuple[Suggestion, ...]:
    """Those that nobody has decided on, by element."""
    rows = await connection.fetch(
        "SELECT id AS number, database, element, kind, suggestion, suggested_at FROM nl_catalog.suggestions"
        " WHERE state = 'proposed' ORDER BY database, element, kind, id LIMIT $1",
        SHOWN,
    )
    return tuple(Suggestion(**row) for row in rows)


@dataclass(frozen=True, slots=True)
class Use:
    """Tokens of the model that a role's questions of a day took. `budget`: of today; None: none, or another day."""

    day: date
    role: str
    questions: int
    tokens: int
    budget: int | None


async def token_use(connection: Connection) -> tuple[Use, ...]:
    """The newest days, who used most first."""
    rows = await connection.fetch(
        "SELECT day, role, questions, tokens, tokens_a_day FROM nl_catalog.token_use"
        " ORDER BY day DESC, tokens DESC, role LIMIT $1",
        SHOWN,
    )
    return tuple(Use(*row) for row in rows)


@dataclass(frozen=True, slots=True)
class Limit:
    """What a role may ask; None: as much as it likes."""

    role: str
    questions_an_hour: int | None
    tokens_a_day: int | None


async def limits(connection: Connection) -> tuple[Limit, ...]:
    """All that the reader may see, by role."""
    rows = await connection.fetch(
        "SELECT role, questions_an_hour, tokens_a_day FROM nl_catalog.quotas ORDER BY role"
    )
    return tuple(Limit(*row) for row in rows)
