"""What people asked about and the catalog does not say: what costs answers first, by database and kind.

The page's ★ list and `pgparley check` both read it here, through the views of `nl_catalog`, as their caller. Owns which
kinds there are and the statement that closes a gap of each; whether a text explains codes its caller says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import asyncpg

from schema_catalog.naming import quote_literal
from schema_catalog.personal import personal_by_name
from schema_catalog.pg import Connection
from schema_catalog.types import Column


class GapKind(StrEnum):
    """What is missing. The first costs most."""

    WORD = "word"
    TABLE = "table"
    CODES = "codes"
    VALUES = "values"
    JOIN = "join"


_WORDED = {
    GapKind.WORD: ("word of questions that nothing stands for", "words of questions that nothing stands for"),
    GapKind.TABLE: (
        "table that is asked about and not described",
        "tables that are asked about and not described",
    ),
    GapKind.CODES: ("column of codes that nothing explains", "columns of codes that nothing explains"),
    GapKind.VALUES: (
        "column that is asked about and whose values nobody allowed",
        "columns that are asked about and whose values nobody allowed",
    ),
    GapKind.JOIN: ("proposed join", "proposed joins"),
}
"""Kind → one of it, several."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing to say. `what`: a word, or an element as the functions take it; `statement` closes the gap.

    `questions`: how many different ones it is about; 0: a proposed join of tables that nobody asked about.
    `path`: schema, table and column of the element, as far as it has them.
    """

    database: str
    kind: GapKind
    what: str
    questions: int
    statement: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gaps:
    """All of one kind in a database, the most asked about first; there is one at least."""

    database: str
    kind: GapKind
    all: tuple[Gap, ...]

    @property
    def words(self) -> str:
        """What they are, after their number."""
        return _WORDED[self.kind][len(self.all) > 1]


# One entry a question: of its words the one that most questions miss. What PostgreSQL takes for a stop word is none.
_WORDS = """
    WITH missed AS (
        SELECT f.database, lower(btrim(f.question, ' .?!;')) AS question, n.word, n.element, n.times
        FROM nl_catalog.failed_questions f
             CROSS JOIN unnest(f.words) AS w (word)
             JOIN nl_catalog.not_understood n ON n.database IS NOT DISTINCT FROM f.database AND n.word = lower(w.word)
        WHERE to_tsvector('pg_catalog.english', n.word) <> ''
    ), entry AS (
        SELECT DISTINCT ON (m.database, m.question) m.* FROM missed m
        ORDER BY m.database, m.question, m.times DESC, m.word
    )
    SELECT coalesce(e.database, '') AS database, e.word, max(e.element) AS element, count(*) AS questions
    FROM entry e GROUP BY e.database, e.word
"""

_TABLES = """
    SELECT t.database, t.element, a.questions, t.schema, t."table"
    FROM nl_catalog.tables t JOIN nl_catalog.asked_about a USING (database, element)
    WHERE t.description IS NULL AND NOT t.hidden
"""

# Keys name rows and are no codes; a sensitive column gives no values.
_COLUMNS = """
    SELECT c.database, c.element, greatest(own.questions, a.questions) AS questions, c.schema, c."table", c."column",
           c.type, coalesce(c.description, '') AS description, own.questions IS NOT NULL AS named,
           v.element IS NOT NULL AS allowed, coalesce(v.codes, false) AS codes
    FROM nl_catalog.tables t
         JOIN nl_catalog.asked_about a USING (database, element)
         JOIN nl_catalog.columns c USING (database, schema, "table")
         LEFT JOIN nl_catalog.asked_about own ON own.database = c.database AND own.element = c.element
         LEFT JOIN nl_catalog.allowed_values v ON v.database = c.database AND v.element = c.element
    WHERE NOT t.hidden AND NOT c.hidden AND t.kind NOT IN ('view', 'foreign table')
      AND c.type ~ '^(text|character|bpchar|citext|name|"char")'
      AND t.attributes ->> 'sensitivity' IS NULL AND c.attributes ->> 'sensitivity' IS NULL
      AND NOT EXISTS (SELECT FROM nl_catalog.keys k
                      WHERE (k.database, k.schema, k."table") = (c.database, c.schema, c."table")
                        AND c."column" = ANY (k.columns))
"""

_JOINS = """
    SELECT p.database, p.from_column, p.to_column, coalesce(a.questions, 0) AS questions, c.schema, c."table"
    FROM nl_catalog.proposed_joins p
         LEFT JOIN nl_catalog.columns c ON c.database = p.database AND c.element = p.from_column
         LEFT JOIN nl_catalog.tables t ON (t.database, t.schema, t."table") = (c.database, c.schema, c."table")
         LEFT JOIN nl_catalog.asked_about a ON a.database = t.database AND a.element = t.element
"""

_SHORT = re.compile(r"character( varying)?\([1-3]\)|\"char\"")
"""Types that have room for a code alone."""


async def gaps(connection: Connection, explains: Callable[[str], bool]) -> tuple[Gaps, ...]:
    """Databases by name, kinds in the order of `GapKind`. `explains`: whether a description says what codes mean."""
    found = [
        *map(_word, await connection.fetch(_WORDS)),
        *map(_table, await connection.fetch(_TABLES)),
        *_of_columns(await connection.fetch(_COLUMNS), explains),
        *map(_join, await connection.fetch(_JOINS)),
    ]
    kinds = list(GapKind)
    found.sort(key=lambda gap: (gap.database, kinds.index(gap.kind), -gap.questions, gap.what))
    return tuple(
        Gaps(database, kind, tuple(each))
        for (database, kind), each in groupby(found, key=lambda gap: (gap.database, gap.kind))
    )


def _word(row: asyncpg.Record) -> Gap:
    said = quote_literal(row["word"])
    statement = f"SELECT nl_catalog.add_synonym({quote_literal(row['element'] or '…')}, {said})"
    return Gap(row["database"], GapKind.WORD, row["word"], row["questions"], statement)


def _table(row: asyncpg.Record) -> Gap:
    statement = f"SELECT nl_catalog.describe({quote_literal(row['element'])}, 'a row for each …')"
    path = (row["schema"], row["table"])
    return Gap(row["database"], GapKind.TABLE, row["element"], row["questions"], statement, path)


def _of_columns(rows: Iterable[asyncpg.Record], explains: Callable[[str], bool]) -> Iterator[Gap]:
    for row in rows:
        element, path = row["element"], (row["schema"], row["table"], row["column"])
        coded = row["codes"] or _SHORT.fullmatch(row["type"])
        if coded and not explains(row["description"]):
            statement = f"SELECT nl_catalog.describe({quote_literal(element)}, 'N new, P paid, …')"
            yield Gap(row["database"], GapKind.CODES, element, row["questions"], statement, path)
        personal = personal_by_name(row["table"], Column(row["column"], row["type"])) is not None
        if row["named"] and not row["allowed"] and not personal:
            statement = f"SELECT nl_catalog.allow_values({quote_literal(element)})"
            yield Gap(row["database"], GapKind.VALUES, element, row["questions"], statement, path)


def _join(row: asyncpg.Record) -> Gap:
    ends = ", ".join(map(quote_literal, (row["from_column"], row["to_column"])))
    path = (row["schema"], row["table"]) if row["table"] else ()
    what = f"{row['from_column']} = {row['to_column']}"
    statement = f"SELECT nl_catalog.accept_join({ends})"
    return Gap(row["database"], GapKind.JOIN, what, row["questions"], statement, path)
