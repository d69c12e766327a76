"""A snapshot with the joins that nobody declared as foreign keys: those proposed, else those that names imply.

Read by the rules for joins alone; nothing takes them for enforced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.join_names import GENERIC, family, implied_joins, named_as_key
from schema_catalog.types import Column, ColumnKey, ForeignKey, Snapshot, Table, TableKey, once_per_snapshot
from schema_catalog.words import identifier_words

Holder = tuple[Table, Column]


def undeclared(snapshot: Snapshot) -> Callable[[ColumnKey, ColumnKey], bool]:
    """Whether a column has no foreign key, and none joins its table and that of another one."""
    graph = foreign_key_graph(snapshot)
    taken = {
        (*table.key, name) for table in snapshot.tables for key in table.foreign_keys for name in key.columns
    }
    return lambda one, other: (
        one not in taken and all(edge.other != other[:2] for edge in graph.edges(one[:2]))
    )


@once_per_snapshot
def undeclared_joins(snapshot: Snapshot) -> tuple[tuple[ColumnKey, ColumnKey], ...]:
    """(column, the column that it seems to refer to): as proposed, where the database was looked at, else by names.

    Of no column that has a foreign key, nor between tables that have one.
    """
    found = snapshot.proposed
    if found is None:
        found = tuple((each.column, each.referred) for each in implied_joins(snapshot))
    free = undeclared(snapshot)
    return tuple(pair for pair in found if free(*pair))


@once_per_snapshot
def with_implied_references(snapshot: Snapshot) -> Snapshot:
    """`snapshot` with a foreign key, not enforced, for each undeclared join; the same one at every call."""
    return _added(snapshot, undeclared_joins(snapshot))


@once_per_snapshot
def with_shared_columns(snapshot: Snapshot) -> Snapshot:
    """The same, and key-like columns that only two tables share and no references join: for a refused statement."""
    implied = with_implied_references(snapshot)
    return _added(implied, _shared(implied))


def _added(snapshot: Snapshot, references: Iterable[tuple[ColumnKey, ColumnKey]]) -> Snapshot:
    found: dict[TableKey, dict[str, ForeignKey]] = defaultdict(dict)
    for (*table, column), (schema, other, key) in references:
        found[table[0], table[1]].setdefault(column, ForeignKey((column,), schema, other, (key,)))
    if not found:
        return snapshot
    tables = tuple(
        replace(table, foreign_keys=(*table.foreign_keys, *found[table.key].values()))
        if table.key in found
        else table
        for table in snapshot.tables
    )
    return replace(snapshot, tables=tables)


def _called_alike(snapshot: Snapshot) -> Iterator[tuple[str, tuple[str, ...], list[Holder]]]:
    """Names of columns that link tables, of one kind of type, their words, and what has them."""
    groups: dict[tuple[str, str], list[Holder]] = defaultdict(list)
    for table in snapshot.tables:
        for column in table.columns:
            groups[column.name.casefold(), family(column.type)].append((table, column))
    for (name, _), holders in groups.items():
        words = identifier_words(name)
        if words and not (len(words) == 1 and words[0] in GENERIC):
            yield name, words, holders


def _shared(snapshot: Snapshot) -> Iterator[tuple[ColumnKey, ColumnKey]]:
    """The columns by which `with_shared_columns` joins."""
    islands = foreign_key_graph(snapshot).islands()
    found: dict[frozenset[TableKey], list[list[Holder]]] = defaultdict(list)
    for name, words, holders in _called_alike(snapshot):
        ends = frozenset(islands[table.key] for table, _ in holders)
        if len(holders) != len(ends) or len(ends) != 2:  # noqa: PLR2004 - a column on each island
            continue
        called = any(set(words) <= set(identifier_words(table.name)) for table, _ in holders)
        if called or named_as_key(name):
            found[ends].append(holders)
    for pairs in found.values():
        if len(pairs) == 1:
            (one, column), (other, key) = pairs[0]
            yield (*one.key, column.name), (*other.key, key.name)
