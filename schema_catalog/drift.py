"""Differences between two snapshots of a database, for a DBA.

Owns the comparison by name: a renamed table or column is one removed and one added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from schema_catalog.naming import dotted
from schema_catalog.types import Column, Snapshot, Table


class Difference(StrEnum):
    """The kind of a change."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"

    @property
    def sign(self) -> str:
        """As it stands before a line."""
        return {Difference.ADDED: "+", Difference.REMOVED: "-", Difference.CHANGED: "~"}[self]


@dataclass(frozen=True, slots=True)
class Change:
    """A change. `what`: kind of the object; `name`: as SQL writes it; `detail`: what of it changed.

    `columns`: how many an added or removed table has.
    """

    difference: Difference
    what: str
    name: str
    detail: str = ""
    columns: int = 0


def compare(before: Snapshot | None, after: Snapshot) -> tuple[Change, ...]:
    """The changes from `before` (None: nothing known) to `after`, by table; row estimates do not count."""
    old = {table.key: table for table in before.tables} if before else {}
    new = {table.key: table for table in after.tables}
    changes: list[Change] = []
    for key in sorted(old.keys() | new.keys()):
        if key not in new:
            changes.append(_whole(Difference.REMOVED, old[key]))
        elif key not in old:
            changes.append(_whole(Difference.ADDED, new[key]))
        else:
            changes.extend(_table(old[key], new[key]))
    return tuple(changes)


def _whole(difference: Difference, table: Table) -> Change:
    return Change(difference, table.kind, dotted(table.key), columns=len(table.columns))


def _table(old: Table, new: Table) -> Iterator[Change]:
    facts = (
        ("kind", old.kind, new.kind),
        ("comment", old.description, new.description),
        ("primary key", old.primary_key, new.primary_key),
        ("unique keys", old.unique_keys, new.unique_keys),
        ("foreign keys", old.foreign_keys, new.foreign_keys),
    )
    different = [name for name, one, other in facts if one != other]
    if different:
        yield Change(Difference.CHANGED, new.kind, dotted(new.key), ", ".join(different))
    before = {column.name: column for column in old.columns}
    after = {column.name: column for column in new.columns}
    for column in new.columns:
        name = dotted((*new.key, column.name))
        if column.name not in before:
            yield Change(Difference.ADDED, "column", name)
        elif before[column.name] != column:
            yield Change(Difference.CHANGED, "column", name, _column(before[column.name], column))
    for name in sorted(before.keys() - after.keys()):
        yield Change(Difference.REMOVED, "column", dotted((*new.key, name)))


def _column(old: Column, new: Column) -> str:
    parts = []
    if old.type != new.type:
        parts.append(f"{old.type} → {new.type}")
    if old.nullable != new.nullable:
        parts.append("may be null now" if new.nullable else "not null now")
    if old.description != new.description:
        parts.append("comment")
    return ", ".join(parts)
