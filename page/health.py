"""What a database lacks for questions about it, read through the views of `nl_catalog` as their caller.

Owns the words for it; what counts as lacking the view `nl_catalog.health` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from schema_catalog.pg import Connection

SHOWN = 100
"""Elements of one kind at most; how many there are is said beside them."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """One kind of what is lacking. `count`: all of them, of which `places` has the first."""

    title: str
    why: str
    count: int
    places: Sequence[asyncpg.Record]


@dataclass(frozen=True, slots=True)
class Health:
    """All of it for one database, each as the readings below name it.

    `missed`: words of questions that nothing stands for, also of those that came near to no database. `conflicts`: what
    is said and `COMMENT ON` differ, or the element is gone. `refused`: definitions that the database does not take.
    """

    missed: Sequence[asyncpg.Record]
    lacking: tuple[Lacking, ...]
    conflicts: Sequence[asyncpg.Record]
    refused: Sequence[asyncpg.Record]


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
    SELECT database, schema, "table", coalesce("column", '') AS "column", detail, count(*) OVER () AS n
    FROM nl_catalog.health WHERE database = $1 AND problem = $2
    ORDER BY array_position($4::text[], element),
             CASE WHEN detail LIKE '“%' THEN detail END, schema, "table", "column" LIMIT $3
"""

_REFUSED = """
    SELECT 'term' AS kind, term AS name, coalesce(reason, '') AS reason FROM nl_catalog.terms
    WHERE database = $1 AND state = 'refused'
    UNION ALL
    SELECT 'verified query', question, coalesce(reason, '') FROM nl_catalog.verified_queries
    WHERE database = $1 AND state = 'refused'
    UNION ALL
    SELECT 'join', from_column || ' = ' || to_column, coalesce(reason, '') FROM nl_catalog.joins
    WHERE database = $1 AND state = 'refused'
"""


_CONFLICTS = """
    SELECT element AS name, problem, description, comment FROM nl_catalog.conflicts WHERE database = $1 ORDER BY 1
"""


async def health(connection: Connection, database: str) -> Health:
    """What `database` lacks."""
    missed = await connection.fetch(_MISSED, database, SHOWN)
    first = [each["element"] for each in missed if each["element"]]
    lacking = []
    for problem, title, why in _KINDS:
        places = await connection.fetch(_FIRST, database, problem, SHOWN, first)
        lacking.append(Lacking(title, why, places[0]["n"] if places else 0, places))
    return Health(
        missed,
        tuple(lacking),
        await connection.fetch(_CONFLICTS, database),
        await connection.fetch(_REFUSED, database),
    )
