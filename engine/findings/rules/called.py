"""A rule about what the question calls by words of the catalog: a schema's name, a column's description.

Owns no words: a name or a description stands in the question as it stands in the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from engine.findings.lint import Context
from engine.link.mentions import in_named_schema, named_schemas, short_description
from engine.statement.read import Draft
from engine.statement.scope import TableRef, identifier, written
from engine.values import wording
from schema_catalog.naming import dotted
from schema_catalog.types import ColumnKey, Table
from schema_catalog.words import identifier_words


def as_catalog_calls(statement: Draft, context: Context) -> str | None:
    """Reads what the question calls as the catalog does: the table of a named schema, the column of a description."""
    changed = [*_of_named_schemas(statement, context), *_described(statement, context)]
    return wording.of(wording.READS, changed)


def not_as_catalog_calls(statement: Draft, context: Context) -> Iterator[str]:
    """In words, what a statement reads in place of that."""
    for _, own, other in _in_another_schema(statement, context):
        yield wording.READS_OTHER.format(dotted(own.key), dotted(other.key))
    for read, wanted in _undescribed(statement, context):
        yield wording.READS_OTHER.format(read[0].name, wanted)


def _described(statement: Draft, context: Context) -> list[str]:
    changed = []
    for read, wanted in list(_undescribed(statement, context)):
        for column in read:
            column.set("this", identifier(wanted))
        changed.append(wanted)
    return changed


def _undescribed(statement: Draft, context: Context) -> Iterator[tuple[list[exp.Column], str]]:
    """Where a column is read of which the question says nothing, and the one of its table and type that it describes.

    Only where the tables that are read have one column alone whose whole description stands in the question. No key:
    a statement joins by it, or counts.
    """
    asked, scopes = frozenset(context.question.words), statement.scopes
    tables = {each.table.key: each.table for each in scopes.all_reads() if each.table is not None}
    columns = {(*key, each.name): each for key, table in tables.items() for each in table.columns}
    told = {key: short_description(each) for key, each in columns.items() if each.description}
    described = [key for key, words in told.items() if words and words <= asked]
    if len(described) != 1:
        return
    read: dict[ColumnKey, list[exp.Column]] = {}
    for column in statement.tree.find_all(exp.Column):
        if (key := scopes.key(column)) in columns and key is not None:
            read.setdefault(key, []).append(column)
    (wanted,) = described
    edges = context.references.edges(wanted[:2])
    keys = {*tables[wanted[:2]].primary_key, *(name for edge in edges for name in edge.columns)}
    silent = [
        key
        for key in read
        if key[:2] == wanted[:2] and columns[key].type == columns[wanted].type and key[2] not in keys
        if asked.isdisjoint({*identifier_words(key[2]), *told.get(key, ())})
    ]
    if wanted not in read and len(silent) == 1:
        yield read[silent[0]], wanted[2]


def _of_named_schemas(statement: Draft, context: Context) -> list[str]:
    """Reads the tables of the schema that the question names in place of those of their names in another."""
    changed = []
    there = {read.table for read in statement.scopes.all_reads()}
    for read, own, other in list(_in_another_schema(statement, context)):
        if other in there:
            continue
        table = written(other, context.snapshot)
        for column in statement.tree.find_all(exp.Column):
            if (column.db, column.table) == own.key:
                column.set("db", table.args.get("db"))
        read.node.set("this", table.this)
        read.node.set("db", table.args.get("db"))
        changed.append(dotted(other.key))
    return changed


def _in_another_schema(statement: Draft, context: Context) -> Iterator[tuple[TableRef, Table, Table]]:
    """Where a table is read, that table, and the one of its name in the schema that the question names instead."""
    snapshot = statement.scopes.snapshot
    named = named_schemas(context.question, snapshot)
    for read in statement.scopes.all_reads() if named else ():
        other = None if read.table is None else in_named_schema(read.table, named, snapshot)
        if other is not None and read.table is not None:
            yield read, read.table, other
