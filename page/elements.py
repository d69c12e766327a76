"""What the catalog knows of databases, tables and columns, read through the views of `nl_catalog` as their caller.

Owns the SQL of these readings. A view that the caller may not read raises asyncpg's `InsufficientPrivilegeError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schema_catalog.pg import Connection
from schema_catalog.types import DeclaredKey, Sensitivity, Status


@dataclass(frozen=True, slots=True)
class Attribute:
    """`name`: as the function takes it. `choices`: its values; none where it is typed, in the words of `example`."""

    name: str
    label: str
    choices: tuple[str, ...] = ()
    example: str = ""
    of_tables: bool = False


ATTRIBUTES = (
    Attribute("status", "Status", tuple(Status), of_tables=True),
    Attribute("sensitivity", "Sensitivity", tuple(Sensitivity), of_tables=True),
    Attribute("unit", "Unit", example="such as EUR"),
    Attribute("time_zone", "Time zone", example="such as Europe/Berlin"),
    Attribute("key", "Key", tuple(DeclaredKey)),
)
"""All of them, in the order of their forms."""


@dataclass(frozen=True, slots=True)
class Stated:
    """An attribute of one element; `value` is empty where nothing is said."""

    attribute: Attribute
    value: str

    @property
    def words(self) -> str:
        """What a list shows of it."""
        return f"{self.attribute.label.lower()} {self.value}" if self.value else ""


@dataclass(frozen=True, slots=True)
class Path:
    """An element by its names; `table` and `column` are empty where it is not one."""

    database: str
    schema: str = ""
    table: str = ""
    column: str = ""

    @property
    def parts(self) -> Mapping[str, str]:
        """Those that it has, by what they are."""
        named = {"database": self.database, "schema": self.schema, "table": self.table, "column": self.column}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class Element:
    """An element with what is said of it. `name`: as the functions take it; `kind`: of a table, or a column's type.

    `attributes`: all that can be said of it, with what is. `rules`: of a database.
    """

    path: Path
    name: str
    kind: str
    description: str | None
    comment: str | None
    synonyms: tuple[str, ...]
    hidden: bool
    attributes: tuple[Stated, ...] = ()
    rules: str = ""

    @property
    def own_description(self) -> str:
        """What was said of it rather than what its comment says; nothing where both are the same."""
        return "" if self.description is None or self.description == self.comment else self.description


@dataclass(frozen=True, slots=True)
class Definition:
    """A term, a verified query or a join. `name`: the term, the question, the column that refers."""

    database: str
    name: str
    body: str
    note: str
    state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A line of an element's history. `after`: what was said from then on, in words."""

    version: int
    changed_by: str
    changed_at: datetime
    after: str


OVERVIEWS = """
    SELECT d.database, d.description, d.hidden, d.refreshed_at,
           coalesce(t.n, 0) AS tables, coalesce(t.described, 0) AS tables_described,
           coalesce(c.n, 0) AS columns, coalesce(c.described, 0) AS columns_described, d.problem
    FROM nl_catalog.databases d
         LEFT JOIN (SELECT database, count(*) AS n, count(description) AS described
                    FROM nl_catalog.tables GROUP BY 1) AS t USING (database)
         LEFT JOIN (SELECT database, count(*) AS n, count(description) AS described
                    FROM nl_catalog.columns GROUP BY 1) AS c USING (database)
    ORDER BY d.database
"""
"""The databases that are open to the caller, with how many of their tables and columns have a description.

`problem`: why a schema could not be read.
"""

WAITING = "SELECT database, problem FROM nl_catalog.registrations ORDER BY 1"
"""Databases that an engine is to register, as an nl_admin sees them. `problem`: why that failed; null: not tried."""

ALLOWED = """
    SELECT kept, more, read_at, problem, personal, codes FROM nl_catalog.allowed_values
    WHERE database = $1 AND element = $2
"""
"""A row where values of a column are allowed: how many are kept, and what they are."""

KEYS = """
    SELECT schema, "table", kind, columns, to_schema, to_table, to_columns FROM nl_catalog.keys
    WHERE database = $1 ORDER BY schema, "table", kind DESC, columns
"""
"""All keys of a database; of a foreign one `to_table` is what it refers to."""

PROPOSED_WORDS = """
    SELECT element, phrase FROM nl_catalog.proposed_synonyms
    WHERE database = $1 AND schema = $2 AND "table" = $3 AND $4 IN ('', "column")
    ORDER BY element, lower(phrase)
"""
"""The words that a model has for a column, or for a table and all of its columns where the column is empty."""

MADE_QUESTIONS = """
    SELECT id AS number, question, tables, edited_by FROM nl_catalog.made_questions
    WHERE database = $1 ORDER BY tables, id
"""
"""What a model thinks that a database is asked. `edited_by`: whose words it has; null: the model's."""

_DEFINITIONS = {
    "terms": "SELECT database, term, definition, coalesce(description, ''), state, reason FROM nl_catalog.terms"
    " WHERE database = $1 ORDER BY term",
    "queries": "SELECT database, question, sql, array_to_string(tags, ', '), state, reason"
    " FROM nl_catalog.verified_queries WHERE database = $1 ORDER BY question",
    "joins": "SELECT database, from_column, to_column, cardinality, state, reason FROM nl_catalog.joins"
    " WHERE database = $1 ORDER BY 2, 3",
    "proposed": "SELECT database, from_column, to_column, evidence, '', NULL FROM nl_catalog.proposed_joins"
    " WHERE database = $1 ORDER BY 2, 3",
}
"""What templates call them → the reading. Proposed joins have their evidence as a note."""

_DATABASE = (
    "SELECT element, 'database' AS kind, description, NULL AS comment, synonyms, hidden, rules"
    " FROM nl_catalog.databases"
)
_TABLES = (
    'SELECT schema, "table", element, kind, description, comment, synonyms, hidden, attributes'
    " FROM nl_catalog.tables"
)
_COLUMNS = (
    'SELECT schema, "table", "column", element, type AS kind, description, comment, synonyms, hidden, attributes'
    " FROM nl_catalog.columns"
)


async def element(connection: Connection, path: Path) -> Element | None:
    """One element; None where there is none of that name, or it is not open to the caller."""
    names = [path.database, path.schema, path.table, path.column]
    if path.column:
        row = await connection.fetchrow(
            f'{_COLUMNS} WHERE database = $1 AND schema = $2 AND "table" = $3 AND "column" = $4', *names
        )
    elif path.table:
        row = await connection.fetchrow(
            f'{_TABLES} WHERE database = $1 AND schema = $2 AND "table" = $3', *names[:3]
        )
    else:
        row = await connection.fetchrow(f"{_DATABASE} WHERE database = $1", *names[:1])
    return None if row is None else _element(path.database, row)


async def tables(connection: Connection, database: str) -> tuple[Element, ...]:
    """The tables and views of a database."""
    rows = await connection.fetch(f'{_TABLES} WHERE database = $1 ORDER BY schema, "table"', database)
    return tuple(_element(database, row) for row in rows)


async def columns(connection: Connection, path: Path) -> tuple[Element, ...]:
    """The columns of a table, in their places."""
    rows = await connection.fetch(
        f'{_COLUMNS} WHERE database = $1 AND schema = $2 AND "table" = $3 ORDER BY place',
        *(path.database, path.schema, path.table),
    )
    return tuple(_element(path.database, row) for row in rows)


async def definitions(connection: Connection, database: str, kind: str) -> tuple[Definition, ...]:
    """The `terms`, verified `queries`, declared `joins` or `proposed` joins of a database."""
    return tuple(Definition(*row) for row in await connection.fetch(_DEFINITIONS[kind], database))


async def history(connection: Connection, database: str, name: str) -> tuple[Change, ...]:
    """The newest changes of what is said of an element, newest first."""
    rows = await connection.fetch(
        "SELECT version, changed_by, changed_at, after FROM nl_catalog.history"
        " WHERE database = $1 AND element = $2 AND kind = 'element' ORDER BY version DESC LIMIT 20",
        *(database, name),
    )
    return tuple(Change(row[0], row[1], row[2], _said(json.loads(row[3] or "null"))) for row in rows)


async def search(connection: Connection, words: str, most: int) -> tuple[Element, ...]:
    """Elements whose name, description or synonyms have all the words, the best first."""
    rows = await connection.fetch(
        'SELECT database, schema, "table", "column", element, type AS kind, description, NULL AS comment, synonyms,'
        " hidden FROM nl_catalog.search($1, $2)",
        *(words, most),
    )
    return tuple(_element(row["database"], row) for row in rows)


def _element(database: str, row: Any) -> Element:
    named = dict(row)
    path = Path(database, *(named.get(part) or "" for part in ("schema", "table", "column")))
    said = (named["description"], named["comment"], tuple(named["synonyms"]), named["hidden"])
    return Element(
        path,
        named["element"],
        named["kind"],
        *said,
        _stated(path, named.get("attributes")),
        named.get("rules") or "",
    )


def _stated(path: Path, attributes: str | None) -> tuple[Stated, ...]:
    """All attributes of a table or column; `attributes` is JSON, None where they were not read."""
    if attributes is None:
        return ()
    values = json.loads(attributes)
    return tuple(
        Stated(each, values.get(each.name, "")) for each in ATTRIBUTES if path.column or each.of_tables
    )


def _said(after: dict[str, Any] | None) -> str:
    if after is None:
        return "nothing is said"
    parts = [f"“{after['description']}”"] if after["description"] else []
    parts += [f"synonyms {', '.join(after['synonyms'])}"] if after["synonyms"] else []
    parts += ["hidden"] if after["hidden"] else []
    said = after.get("attributes", {})
    parts += [f"{each.label.lower()} {said[each.name]}" for each in ATTRIBUTES if each.name in said]
    parts += [f"rules “{said['rules']}”"] if said.get("rules") else []
    return "; ".join(parts) or "nothing is said"
