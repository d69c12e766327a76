"""Whether the references that names imply are those that foreign keys declare.

Each database of Spider and of the pool that declares foreign keys is read without them, with and without its primary
keys. An implied reference is right where it is declared, or joins two columns that are declared to refer to a third;
what is missing in the data counts as wrong, so that precision is a lower bound. Needs no model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from schema_catalog.implied_references import with_implied_references
from schema_catalog.types import ColumnKey, Snapshot

Reference = tuple[ColumnKey, ColumnKey]


def references(snapshot: Snapshot) -> set[Reference]:
    """The foreign keys of one column: (column, column that it refers to)."""
    return {
        ((*table.key, key.columns[0]), (key.ref_schema, key.ref_table, key.ref_columns[0]))
        for table in snapshot.tables
        for key in table.foreign_keys
        if len(key.columns) == 1
    }


def without_keys(snapshot: Snapshot, *, primary: bool) -> Snapshot:
    """`snapshot` without foreign keys, and without its other keys where not `primary`."""
    bare = [replace(table, foreign_keys=()) for table in snapshot.tables]
    if not primary:
        bare = [replace(table, primary_key=(), unique_keys=()) for table in bare]
    return replace(snapshot, tables=tuple(bare))


def counted(declared: set[Reference], implied: set[Reference]) -> tuple[int, int, int]:
    """(implied that are right, implied, declared that are implied): of the last either way round."""
    home = dict(declared)
    right = {
        (one, other)
        for one, other in implied
        if (other, one) in declared or home.get(one, one) == home.get(other, other)
    }
    found = {(one, other) for one, other in declared if not implied.isdisjoint({(one, other), (other, one)})}
    return len(right), len(implied), len(found)


def measured(snapshots: Iterable[Snapshot], *, primary: bool) -> tuple[int, float, float]:
    """Databases with foreign keys; precision and recall of what is implied in them."""
    totals, declared, databases = [0, 0, 0], 0, 0
    for snapshot in snapshots:
        known = references(snapshot)
        if known:
            implied = references(with_implied_references(without_keys(snapshot, primary=primary)))
            totals = [sum(pair) for pair in zip(totals, counted(known, implied), strict=True)]
            declared += len(known)
            databases += 1
    return databases, totals[0] / totals[1], totals[2] / declared
