"""What a DBA's attributes of elements mean to linking, ranking and what is shown.

Owns how much a deprecated element loses and a preferred one gains; which values are nobody's business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from engine.values import wording
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import Column, ColumnKey, Snapshot, Status, Table, TableKey

LESS = 0.1
"""Taken off the cosine of a deprecated element; about what a right element is ahead of a wrong one."""

MORE = 0.02
"""Added to a preferred one's: it decides between elements of the same words, and little else."""


def statuses(snapshot: Snapshot) -> dict[ColumnKey, Status]:
    """The tables and columns with a status; what is said of a table holds of its columns."""
    found: dict[ColumnKey, Status] = {}
    for table in snapshot.tables:
        of_table = None if table.attributes is None else table.attributes.status
        if of_table is not None:
            found[*table.key, WHOLE_TABLE] = of_table
        for column in table.columns:
            own = None if column.attributes is None else column.attributes.status
            if status := own or of_table:
                found[*table.key, column.name] = status
    return found


def adjusted(cosine: float, status: Status | None) -> float:
    """`cosine` with what the status is worth."""
    if status is None:
        return cosine
    return cosine - LESS if status is Status.DEPRECATED else min(1.0, cosine + MORE)


def preferred_first(tables: Iterable[TableKey], snapshot: Snapshot) -> tuple[TableKey, ...]:
    """`tables` in their order, the deprecated ones behind all others."""
    standing = statuses(snapshot)
    return tuple(sorted(tables, key=lambda table: standing.get((*table, WHOLE_TABLE)) is Status.DEPRECATED))


def deprecated(
    tables: Collection[TableKey], columns: Collection[ColumnKey], snapshot: Snapshot
) -> tuple[str, ...]:
    """What of this is deprecated: `orders`, or `orders.net` where its table is not."""
    names = []
    for (schema, table, column), status in statuses(snapshot).items():
        if status is not Status.DEPRECATED:
            continue
        if column == WHOLE_TABLE and (schema, table) in tables:
            names.append(table)
        elif (schema, table, column) in columns and table not in names:
            names.append(f"{table}.{column}")
    return tuple(names)


def measured(columns: Collection[ColumnKey], snapshot: Snapshot) -> Iterator[str]:
    """The units and time zones of `columns`: `net in EUR`, `paid_at in the time zone UTC`."""
    for table, column in snapshot.columns():
        if (*table.key, column.name) in columns and column.attributes is not None:
            if column.attributes.unit:
                yield wording.IN_UNIT.format(column.name, column.attributes.unit)
            if column.attributes.time_zone:
                yield wording.IN_ZONE.format(column.name, column.attributes.time_zone)


def is_sensitive(element: Column | Table) -> bool:
    """Whether none of its values is to be kept, offered or shown to the model."""
    return element.attributes is not None and element.attributes.sensitivity is not None


def sensitive_columns(snapshot: Snapshot) -> frozenset[ColumnKey]:
    """Of all tables."""
    return frozenset(
        (*table.key, column.name) for table, column in snapshot.columns() if is_sensitive(column)
    )
