"""What a database lacks for questions about it, read through the views of `nl_catalog` as their caller.

Owns what counts as lacking. Nothing is judged here that the views do not say.
"""

from __future__ import annotations

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

    lacking: tuple[Lacking, ...]
    conflicts: tuple[Conflict, ...]
    refused: tuple[Refused, ...]


_UNDESCRIBED_TABLES = """
    SELECT schema, "table", '' AS "column", kind AS detail FROM nl_catalog.tables
    WHERE database = $1 AND description IS NULL AND NOT hidden
"""
_UNDESCRIBED_COLUMNS = """
    SELECT schema, "table", "column", type AS detail FROM nl_catalog.columns
    WHERE database = $1 AND description IS NULL AND NOT hidden
"""
# Names that keys share are meant to be the same; the others are told apart by their descriptions alone.
_AMBIGUOUS = """
    WITH keyed AS (
        SELECT schema, "table", unnest(columns) AS "column" FROM nl_catalog.keys WHERE database = $1
        UNION
        SELECT to_schema, to_table, unnest(to_columns) FROM nl_catalog.keys WHERE database = $1 AND kind = 'foreign'
    ), named AS (
        SELECT schema, "table", "column", description, lower("column") AS name
        FROM nl_catalog.columns LEFT JOIN keyed USING (schema, "table", "column")
        WHERE database = $1 AND NOT hidden AND keyed."column" IS NULL
        UNION ALL
        SELECT schema, "table", coalesce("column", ''), description, lower(synonym)
        FROM nl_catalog.said, unnest(synonyms) AS synonym
        WHERE database = $1 AND NOT hidden AND "table" IS NOT NULL
    ), shared AS (
        SELECT name, count(*) AS n FROM named GROUP BY name
        HAVING count(DISTINCT (schema, "table", "column")) > 1
           AND (count(description) < count(*) OR count(DISTINCT description) < count(*))
    )
    SELECT schema, "table", "column", format('“%s” stands for %s', name, n) AS detail
    FROM named JOIN shared USING (name)
"""
_KEYLESS = """
    SELECT schema, "table", '' AS "column", t.kind AS detail FROM nl_catalog.tables t
    WHERE database = $1 AND NOT hidden AND t.kind NOT IN ('view', 'materialized view')
      AND NOT EXISTS (SELECT FROM nl_catalog.keys k WHERE (k.database, k.schema, k."table") = ($1, t.schema, t."table")
                      AND k.kind IN ('primary', 'unique'))
"""
_ALONE = """
    WITH joined AS (
        SELECT schema, "table" FROM nl_catalog.keys WHERE database = $1 AND kind = 'foreign'
        UNION SELECT to_schema, to_table FROM nl_catalog.keys WHERE database = $1 AND kind = 'foreign'
        UNION SELECT c.schema, c."table" FROM nl_catalog.columns c JOIN nl_catalog.joins j USING (database)
              WHERE database = $1 AND c.element IN (j.from_column, j.to_column)
    )
    SELECT schema, "table", '' AS "column", kind AS detail
    FROM nl_catalog.tables LEFT JOIN joined USING (schema, "table")
    WHERE database = $1 AND NOT hidden AND joined."table" IS NULL
"""

_KINDS = (
    (
        "Tables without a description",
        "A question finds a table by its name alone, then.",
        _UNDESCRIBED_TABLES,
    ),
    ("Columns without a description", "Short names say little to whoever asks.", _UNDESCRIBED_COLUMNS),
    (
        "Names that stand for several things",
        "Descriptions of their own, or synonyms, tell them apart.",
        _AMBIGUOUS,
    ),
    ("Tables without a key", "Neither a primary nor a unique key: what a row is, nothing says.", _KEYLESS),
    ("Tables that nothing joins", "No foreign key and no declared join leads there.", _ALONE),
)

_FIRST = """
    SELECT *, count(*) OVER () AS n FROM ({}) AS each
    ORDER BY CASE WHEN detail LIKE '“%' THEN detail END, schema, "table", "column" LIMIT $2
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
    return Health(
        tuple([await _lacking(connection, database, *kind) for kind in _KINDS]),
        tuple(Conflict(*row) for row in conflicts),
        tuple(Refused(*row) for row in refused),
    )


async def _lacking(connection: Connection, database: str, title: str, why: str, query: str) -> Lacking:
    rows = await connection.fetch(_FIRST.format(query), database, SHOWN)
    places = tuple(Place(database, *list(row)[:4]) for row in rows)
    return Lacking(title, why, rows[0]["n"] if rows else 0, places)
