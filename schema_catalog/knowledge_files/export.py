"""What the store says of databases, as the file of it, by the views of `nl_catalog`: what is open to the reader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import TypeVar

import asyncpg
import msgspec

from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    QueryBlock,
    TableBlock,
    TermBlock,
)
from schema_catalog.pg import Connection
from schema_catalog.types import Attributes, ColumnKey

T = TypeVar("T")
Words = tuple[str | None, tuple[str, ...], bool]
WithRules = tuple[str | None, tuple[str, ...], bool, str | None]
"""Description, synonyms, and whether it is hidden."""


async def open_databases(connection: Connection) -> tuple[str, ...]:
    """The registered databases that the connection's role sees, in order."""
    return tuple(
        sorted(row[0] for row in await connection.fetch("SELECT database FROM nl_catalog.databases"))
    )


_ELEMENTS = """
    SELECT * FROM (
        SELECT NULL AS source, database, schema, "table", "column", description, synonyms, hidden, attributes
        FROM nl_catalog.said
        UNION ALL
        SELECT source, database, schema, "table", "column", description, synonyms, false, attributes
        FROM nl_catalog.imported) AS said
    WHERE source IS NOT DISTINCT FROM $2 AND database = ANY ($1)
    ORDER BY database, schema COLLATE "C" NULLS FIRST, "table" COLLATE "C", "column" COLLATE "C" NULLS FIRST
"""


async def stored_file(
    connection: Connection, databases: Sequence[str], origin: str | None = None
) -> KnowledgeFile:
    """What the store says of `databases`, in a fixed order. `origin`: what the import of that name says, not people."""
    names = sorted(set(databases))
    said, tables = _elements(await connection.fetch(_ELEMENTS, names, origin))
    joins = await _joins(connection, names, origin)
    terms = await _terms(connection, names, origin)
    queries = await _queries(connection, names) if origin is None else {}
    return KnowledgeFile(
        1,
        tuple(
            DatabaseBlock(
                name,
                *said.get(name, (None, (), False, None)),
                tables=tuple(tables.get(name, ())),
                joins=tuple(joins.get(name, ())),
                terms=tuple(terms.get(name, ())),
                verified_queries=tuple(queries.get(name, ())),
            )
            for name in names
        ),
    )


def _elements(rows: Iterable[asyncpg.Record]) -> tuple[dict[str, WithRules], dict[str, list[TableBlock]]]:
    """What is said of each database itself, and its tables."""
    said: dict[str, WithRules] = {}
    blocks: dict[tuple[str, str, str], TableBlock] = {}
    columns: dict[tuple[str, str, str], list[ColumnBlock]] = defaultdict(list)
    for _, name, schema, table, column, description, synonyms, hidden, attributes in rows:
        words = (description, tuple(synonyms), hidden)
        marks = msgspec.json.decode(attributes, type=Attributes)
        if schema is None:
            said[name] = (*words, marks.rules)
        elif column is None:
            blocks[name, schema, table] = TableBlock(schema, table, *words, marks.status, marks.sensitivity)
        else:
            blocks.setdefault((name, schema, table), TableBlock(schema, table))
            columns[name, schema, table].append(ColumnBlock(column, *words, *astuple(marks)[:5]))
    return said, _by_database(
        (key[0], msgspec.structs.replace(block, columns=tuple(columns[key]))) for key, block in blocks.items()
    )


async def _joins(connection: Connection, names: list[str], origin: str | None) -> dict[str, list[JoinBlock]]:
    rows = await connection.fetch(
        "SELECT database, (parse_ident(from_column))[2:], (parse_ident(to_column))[2:], cardinality"
        " FROM nl_catalog.joins WHERE database = ANY ($1) AND source IS NOT DISTINCT FROM $2"
        ' ORDER BY from_column COLLATE "C", to_column COLLATE "C"',
        names,
        origin,
    )
    return _by_database(
        (name, JoinBlock(_key(column), _key(referred), Cardinality(cardinality)))
        for name, column, referred, cardinality in rows
    )


async def _terms(connection: Connection, names: list[str], origin: str | None) -> dict[str, list[TermBlock]]:
    rows = await connection.fetch(
        "SELECT database, term, definition, description FROM nl_catalog.terms"
        ' WHERE database = ANY ($1) AND source IS NOT DISTINCT FROM $2 ORDER BY lower(term) COLLATE "C"',
        names,
        origin,
    )
    return _by_database((name, TermBlock(*block)) for name, *block in rows)


async def _queries(connection: Connection, names: list[str]) -> dict[str, list[QueryBlock]]:
    rows = await connection.fetch(
        "SELECT database, question, sql, tags FROM nl_catalog.verified_queries"
        ' WHERE database = ANY ($1) ORDER BY lower(question) COLLATE "C"',
        names,
    )
    return _by_database((name, QueryBlock(question, sql, tuple(tags))) for name, question, sql, tags in rows)


def _by_database(blocks: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = defaultdict(list)
    for name, block in blocks:
        found[name].append(block)
    return found


def _key(names: list[str]) -> ColumnKey:
    schema, table, column = names
    return (schema, table, column)
