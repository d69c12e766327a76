"""What the forms of other tools share: which tables they list, which joins they hold, and what is left for us."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    TableBlock,
)
from schema_catalog.store import CatalogError
from schema_catalog.types import ColumnKey, DeclaredKey, TableKey


def only_database(content: KnowledgeFile) -> DatabaseBlock:
    """The one that `content` is about; raises `CatalogError`."""
    if len(content.databases) != 1:
        raise CatalogError("a file in another tool's form is about one database; name it")
    return content.databases[0]


def rest_of(block: msgspec.Struct, *held: str) -> dict[str, object]:
    """What `block` says beside the fields `held`."""
    said: dict[str, object] = msgspec.to_builtins(block)
    return {name: value for name, value in said.items() if name not in held}


def unique_columns(database: DatabaseBlock) -> frozenset[ColumnKey]:
    """Those of which the key was declared."""
    return frozenset(
        (table.schema, table.name, column.name)
        for table in database.tables
        for column in table.columns
        if column.key is DeclaredKey.UNIQUE
    )


def held_joins(
    database: DatabaseBlock, unique: frozenset[ColumnKey]
) -> tuple[list[JoinBlock], list[dict[str, object]]]:
    """The joins that come back from the form, the side that refers first, and the others.

    A form says nothing of cardinality: it is one-to-one where the column that refers is `unique`.
    """
    held, others = list[JoinBlock](), list[dict[str, object]]()
    for join in database.joins:
        one, other, cardinality = join.column, join.referred, join.cardinality
        if cardinality is Cardinality.ONE_TO_MANY:
            one, other, cardinality = other, one, Cardinality.MANY_TO_ONE
        if (cardinality is Cardinality.ONE_TO_ONE) == (one in unique):
            held.append(JoinBlock(one, other, cardinality))
        else:
            others.append(rest_of(join))
    return held, others


def tables_with(database: DatabaseBlock, named: Iterable[ColumnKey]) -> list[TableBlock]:
    """The tables of which something is said, and `named` columns, by schema and name."""
    blocks: dict[TableKey, TableBlock] = {(table.schema, table.name): table for table in database.tables}
    for schema, table, name in sorted(set(named)):
        block = blocks.setdefault((schema, table), TableBlock(schema, table))
        if name not in {column.name for column in block.columns}:
            columns = sorted((*block.columns, ColumnBlock(name)), key=lambda each: each.name)
            blocks[schema, table] = msgspec.structs.replace(block, columns=tuple(columns))
    return [blocks[key] for key in sorted(blocks)]
