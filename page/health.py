"""What a database lacks for questions about it, read through the views of `nl_catalog` as their caller.

Owns the words for it; what counts as lacking the view `nl_catalog.health` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schema_catalog.pg import Connection

SHOWN = 100
"""Elements of one kind at most; how many there are is said beside them."""


@dataclass(frozen=True, slots=True)
class Place:
    """An element that lacks something; `detail`: what there is instead."""

    database: str
    schema: str
    table: str
    column: str
    detail: str


@dataclass(frozen=True, slots=True)
class Lacking:
    """One kind of what is lacking. `count`: all of them, of which `places` has the first."""

    title: str
    why: str
    count: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """A word that questions used so many times and nothing stands for; `element`: what it came nearest to.

    Also those of questions that came near to no database.
    """

    word: str
    element: str | None
    times: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """What is said and `COMMENT ON` differ, or the element is gone. `name`: as the functions take it."""

    name: str
    problem: str
    description: str | None
    comment: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A definition that its database does not take."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Health:
    """All of it for one database."""

    missed: tuple[Missed, ...]
    lacking: tuple[Lacking, ...]
    conflicts: tuple[Conflict, ...]
    refused: tuple[Refused, ...]


_KINDS = (
    (
        "table without description",
        "Tables without a description",
        "A question finds a table by its name alone, then.",
    ),
    (
        "column without description",
        "Columns without a description",
        "Short names say little to whoever asks.",
    ),
    (
        "ambiguous name",
        "Names that stand for several things",
        "Descriptions of their own, or synonyms, tell them apart.",
    ),
    (
        "table without key",
        "Tables without a key",
        "Neither a primary nor a unique key: what a row is, nothing says.",
    ),
    (
        "table without join",
        "Tables that nothing joins",
        "No foreign key and no declared join leads there.",
    ),
)
"""As the view says it, as the page does, and why it matters."""

_MISSED = """
    SELECT word, element, times FROM nl_catalog.not_understood WHERE database = $1 OR database IS NULL
    ORDER BY times DESC, word LIMIT $2
"""

# What questions came near to stands first.
_FIRST = """
    SELECT schema, "table", coalesce("column", ''), detail, count(*) OVER () AS n
    FROM nl_catalog.health WHERE database = $1 AND problem = $2
    ORDER BY array_position($4::text[], element),
             CASE WHEN detail LIKE '“%' THEN detail END, schema, "table", "column" LIMIT $3
"""

_REFUSED = """
    SELECT 'term', term, coalesce(reason, '') FROM nl_catalog.terms WHERE database = $1 AND state = 'refused'
    UNION ALL
    SELECT 'verified query', question, coalesce(reason, '') FROM nl_catalog.verified_queries
    WHERE database = $1 AND state = 'refused'
    UNION ALL
    SELECT 'join', from_column || ' = ' || to_column, coalesce(reason, '') FROM nl_catalog.joins
    WHERE database = $1 AND state = 'refused'
"""


async def health(connection: Connection, database: str) -> Health:
    """What `database` lacks."""
    conflicts = await connection.fetch(
        "SELECT element, problem, description, comment FROM nl_catalog.conflicts WHERE database = $1 ORDER BY 1",
        database,
    )
    refused = await connection.fetch(_REFUSED, database)
    missed = tuple(Missed(*row) for row in await connection.fetch(_MISSED, database, SHOWN))
    first = [each.element for each in missed if each.element]
    return Health(
        missed,
        tuple([await _lacking(connection, database, kind, first) for kind in _KINDS]),
        tuple(Conflict(*row) for row in conflicts),
        tuple(Refused(*row) for row in refused),
    )


async def _lacking(
    connection: Connection, database: str, kind: tuple[str, str, str], first: Sequence[str]
) -> Lacking:
    problem, title, why = kind
    rows = await connection.fetch(_FIRST, database, problem, SHOWN, first)
    places = tuple(Place(database, *list(row)[:4]) for row in rows)
    return Lacking(title, why, rows[0]["n"] if rows else 0, places)
