"""What the store says of databases, as the file of it.

Reads the views of `nl_catalog` alone, so that whoever may read those may export, and gets what is open to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

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


async def open_databases(connection: Connection) -> tuple[str, ...]:
    """The registered databases that the connection's role sees, in order."""
    return tuple(
        sorted(row[0] for row in await connection.fetch("SELECT database FROM nl_catalog.databases"))
    )


_SAID = 'SELECT database, schema, "table", "column", description, synonyms, hidden, attributes FROM nl_catalog.said'

_IMPORTED = (
    'SELECT database, schema, "table", "column", description, synonyms, false AS hidden, attributes'
    " FROM nl_catalog.imported WHERE source = $2"
)


async def stored_file(
    connection: Connection, databases: Sequence[str], origin: str | None = None
) -> KnowledgeFile:
    """What the store says of `databases`, which are open to the connection's role; all of it in a fixed order.

    `origin`: what the import of that name says, in place of what people say. Verified queries are people's alone.
    """
    names = sorted(set(databases))
    tables = await _tables(connection, names, origin)
    joins = await _joins(connection, names, origin)
    terms = await _terms(connection, names, origin)
    queries = await _queries(connection, names) if origin is None else {}
    rows = await connection.fetch(
        f"SELECT database, description, synonyms, hidden FROM ({_elements(origin)}) AS said"  # noqa: S608 - constants
        " WHERE database = ANY ($1) AND schema IS NULL",
        names,
        *_parameter(origin),
    )
    said = {name: (description, tuple(synonyms), hidden) for name, description, synonyms, hidden in rows}
    return KnowledgeFile(
        1,
        tuple(
            DatabaseBlock(
                name,
                *said.get(name, (None, (), False)),
                tables=tuple(tables.get(name, ())),
                joins=tuple(joins.get(name, ())),
                terms=tuple(terms.get(name, ())),
                verified_queries=tuple(queries.get(name, ())),
            )
            for name in names
        ),
    )


def _elements(origin: str | None) -> str:
    return _SAID if origin is None else _IMPORTED


def _parameter(origin: str | None) -> tuple[str, ...]:
    return () if origin is None else (origin,)


async def _tables(
    connection: Connection, names: list[str], origin: str | None
) -> dict[str, list[TableBlock]]:
    rows = await connection.fetch(
        f"SELECT * FROM ({_elements(origin)}) AS said"  # noqa: S608 - constants
        " WHERE database = ANY ($1) AND schema IS NOT NULL"
        ' ORDER BY database, schema COLLATE "C", "table" COLLATE "C", "column" COLLATE "C" NULLS FIRST',
        names,
        *_parameter(origin),
    )
    blocks: dict[tuple[str, str, str], TableBlock] = {}
    columns: dict[tuple[str, str, str], list[ColumnBlock]] = defaultdict(list)
    for name, schema, table, column, description, synonyms, hidden, attributes in rows:
        key = (name, schema, table)
        marks = msgspec.json.decode(attributes, type=Attributes)
        if column is None:
            words = TableBlock(schema, table, description, tuple(synonyms), hidden)
            blocks[key] = msgspec.structs.replace(words, status=marks.status, sensitivity=marks.sensitivity)
        else:
            blocks.setdefault(key, TableBlock(schema, table))
            columns[key].append(
                ColumnBlock(
                    column,
                    description,
                    tuple(synonyms),
                    hidden,
                    marks.status,
                    marks.sensitivity,
                    marks.unit,
                    marks.time_zone,
                    marks.key,
                )
            )
    return _by_database(
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
    """The blocks of each database, in their order; none of one that has none."""
    found: dict[str, list[T]] = defaultdict(list)
    for name, block in blocks:
        found[name].append(block)
    return found


def _key(names: list[str]) -> ColumnKey:
    schema, table, column = names
    return (schema, table, column)
