"""Which elements are synonyms (Odin's ambiguities), so that a statement's alternatives need no call of the model.

Two columns of a table, one column in two tables joined by a key, two tables of the same columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from engine.question.names import name_words, qualified_words
from engine.values.elements import NUMBERS, WHOLE_TABLE
from schema_catalog.foreign_keys import ForeignKeyGraph, foreign_key_graph
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey

ALIKE = 0.4
"""Least cosine of two columns' names, averaged with and without the table's: the set holds both readings of most
ambiguous names."""

SAME_COLUMNS = 0.8
"""Least share of columns in common of two tables that are exchanged."""

Likeness = Callable[[str, str], float]
"""Cosine of two phrases, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """`other` could stand for `used`; both are columns or, with the column `*`, both tables. `likeness` in [-1, 1]."""

    used: ColumnKey
    other: ColumnKey
    likeness: float


def exchanges(
    columns: Iterable[ColumnKey], tables: Iterable[TableKey], snapshot: Snapshot, likeness: Likeness
) -> list[Exchange]:
    """The exchanges for a statement that reads `columns` and `tables`, the most alike first."""
    read = frozenset(columns)
    known = {table.key: table for table in snapshot.tables}
    needed: dict[TableKey, set[str]] = defaultdict(set)
    for schema, table, column in read:
        needed[schema, table].add(column)
    found = [
        Exchange((*key, WHOLE_TABLE), (*other.key, WHOLE_TABLE), 1.0)
        for key in tables
        if key in known
        for other in snapshot.tables
        if are_same_tables(known[key], other, needed[key])
    ]
    for used in sorted(read):
        if used[:2] in known:
            found += _similar_columns(used, known, foreign_key_graph(snapshot), likeness)
    return sorted(found, key=lambda each: -each.likeness)


def interchangeable(used: ColumnKey, other: ColumnKey, snapshot: Snapshot) -> bool:
    """Whether two columns of one table have one kind of type and the same role as keys."""
    columns = {(*table.key, column.name): column for table, column in snapshot.columns()}
    if used not in columns or other not in columns or _kind(columns[used]) != _kind(columns[other]):
        return False
    return _same_role(used, other, foreign_key_graph(snapshot))


def keeps_column_of(table: Table, other: Table) -> bool:
    """Whether `table` holds by itself a column that `other` has as well, by their names."""
    mine = {column.name for column in table.columns}
    return any(column.name in mine and _is_named_for(table, other, column) for column in other.columns)


def phrases(tables: Iterable[Table]) -> list[str]:
    """The phrases that `exchanges` compares for statements over `tables`, each once."""
    texts = [
        text
        for table in tables
        for column in table.columns
        for text in (name_words(column.name), qualified_words(table, column))
    ]
    return list(dict.fromkeys(texts))


def are_same_tables(table: Table, other: Table, needed: Collection[str]) -> bool:
    """Whether `other` has nearly the columns of `table`, the `needed` ones too, and may be meant in its place."""
    mine = {column.name: _kind(column) for column in table.columns}
    theirs = {column.name: _kind(column) for column in other.columns}
    shared = {name for name, kind in mine.items() if theirs.get(name) == kind}
    return (
        other is not table
        and shared.issuperset(needed)
        and len(shared) >= SAME_COLUMNS * max(len(mine), len(theirs))
    )


def _similar_columns(
    used: ColumnKey, known: dict[TableKey, Table], references: ForeignKeyGraph, likeness: Likeness
) -> Iterator[Exchange]:
    table = known[used[:2]]
    column = next((each for each in table.columns if each.name == used[2]), None)
    if column is None:
        return
    for other in table.columns:
        key = (*table.key, other.name)
        if other is not column and _kind(other) == _kind(column) and _same_role(used, key, references):
            bare = likeness(name_words(column.name), name_words(other.name))
            qualified = likeness(qualified_words(table, column), qualified_words(table, other))
            # A key's name often says its table, which a measure's qualified name says as well.
            one_is_key = table.primary_key in ((column.name,), (other.name,))
            similarity = bare if one_is_key else (bare + qualified) / 2
            if references.referred(used) & references.referred(key):
                yield Exchange(used, key, 1.0)
            elif similarity >= ALIKE:
                yield Exchange(used, key, similarity)
    for neighbour in map(known.__getitem__, references.neighbours(table.key)):
        for other in neighbour.columns:
            key = (*neighbour.key, other.name)
            if other.name != column.name or _kind(other) != _kind(column):
                continue
            kept_apart = _extracted(column, table, neighbour)
            joins = key in references.counterparts(used)
            if not joins and (
                kept_apart or not (references.counterparts(used) or references.counterparts(key))
            ):
                yield Exchange(used, key, 1.0 if kept_apart else ALIKE)


def _extracted(column: Column, table: Table, neighbour: Table) -> bool:
    return _is_named_for(neighbour, table, column) or _is_named_for(table, neighbour, column)


def _is_named_for(table: Table, other: Table, column: Column) -> bool:
    """Whether one table's name is the other's and the column's: `singer_name` of `singer`."""
    return name_words(table.name) == qualified_words(other, column)


def _same_role(one: ColumnKey, other: ColumnKey, references: ForeignKeyGraph) -> bool:
    """Whether both are keys that meet the same column, or neither is a key: a pet's number is no student's."""
    mine, theirs = references.counterparts(one), references.counterparts(other)
    return not (mine or theirs) or bool(mine & theirs)


def _kind(column: Column) -> str:
    """The column's type; all numbers are one kind, and all texts."""
    if column.type in NUMBERS or column.type.startswith("numeric"):
        return "number"
    text = column.type in ("text", "name", "citext") or column.type.startswith("character")
    return "text" if text else column.type
