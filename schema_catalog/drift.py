"""Differences between two snapshots of a database, for a DBA.

Owns the comparison by name, where a renamed table or column is one removed and one added, and which of these pairs may
be a rename. Decides on none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from schema_catalog.identity import Element, Numbers
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

    `columns`: how many an added or removed table has. `element`: (schema, table) or (schema, table, column).
    """

    difference: Difference
    what: str
    name: str
    detail: str = ""
    columns: int = 0
    element: Element = field(default=(), compare=False)


class Evidence(StrEnum):
    """Why two elements are taken for one."""

    NUMBER = "the server has them under the same number"
    POSITION = "same position and type"


@dataclass(frozen=True, slots=True)
class Rename:
    """A table or column that seems to have another name now; of a renamed table its columns are not told apart."""

    old: Element
    new: Element
    evidence: Evidence


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
    return Change(difference, table.kind, dotted(table.key), columns=len(table.columns), element=table.key)


def _table(old: Table, new: Table) -> Iterator[Change]:
    facts = (
        ("kind", old.kind, new.kind),
        ("comment", old.description, new.description),
        ("primary key", old.primary_key, new.primary_key),
        ("unique keys", old.unique_keys, new.unique_keys),
        ("foreign keys", old.foreign_keys, new.foreign_keys),
        ("checks", old.checks, new.checks),
    )
    different = [name for name, one, other in facts if one != other]
    if different:
        yield Change(Difference.CHANGED, new.kind, dotted(new.key), ", ".join(different), element=new.key)
    before = {column.name: column for column in old.columns}
    after = {column.name: column for column in new.columns}
    for column in new.columns:
        key = (*new.key, column.name)
        if column.name not in before:
            yield Change(Difference.ADDED, "column", dotted(key), element=key)
        elif before[column.name] != column:
            detail = _column(before[column.name], column)
            yield Change(Difference.CHANGED, "column", dotted(key), detail, element=key)
    for name in sorted(before.keys() - after.keys()):
        key = (*new.key, name)
        yield Change(Difference.REMOVED, "column", dotted(key), element=key)


def _column(old: Column, new: Column) -> str:
    parts = []
    if old.type != new.type:
        parts.append(f"{old.type} → {new.type}")
    if old.labels != new.labels:
        parts.append(f"labels {', '.join(old.labels) or 'unknown'} → {', '.join(new.labels) or 'none'}")
    if (old.fields, old.domain) != (new.fields, new.domain):
        parts.append("definition of its type")
    if old.nullable != new.nullable:
        parts.append("may be null now" if new.nullable else "not null now")
    if old.description != new.description:
        parts.append("comment")
    return ", ".join(parts)


def renames(before: Snapshot, after: Snapshot, known: Numbers, now: Numbers) -> tuple[Rename, ...]:
    """What is gone from `before` and may be in `after` under a name that `before` lacks, tables first.

    `known` and `now`: the numbers of their elements, those of `known` of the same database of the same cluster. An
    element that `known` lacks is recognised by its position and type, where one alone fits.
    """
    old, new = _elements(before), _elements(after)
    at = {number: element for element, number in now.items() if element in new}
    found: list[Rename] = []
    for element in sorted(old - new, key=lambda each: (len(each), each)):
        number = known.get(element)
        other = at.get(number) if number is not None else None
        # A column of a renamed table that has its own name still goes with the table.
        own = other is not None and (len(element) == 2 or other[2:] != element[2:])  # noqa: PLR2004 - a table's length
        if other is not None and own and other not in old:
            found.append(Rename(element, other, Evidence.NUMBER))
    guessed = (*_tables_alike(before, after), *_columns_alike(before, after))
    found += [each for each in guessed if each.old not in known]
    return tuple(found)


def _elements(snapshot: Snapshot) -> set[Element]:
    columns = {(*table.key, column.name) for table, column in snapshot.columns()}
    return columns.union(table.key for table in snapshot.tables)


def _tables_alike(before: Snapshot, after: Snapshot) -> Iterator[Rename]:
    old, new = {table.key for table in before.tables}, {table.key for table in after.tables}
    gone = [table for table in before.tables if table.key not in new]
    come = [table for table in after.tables if table.key not in old]
    for table in gone:
        alike = [each for each in come if _shape(each) == _shape(table)]
        if len(alike) == 1 and [_shape(each) for each in gone].count(_shape(table)) == 1:
            yield Rename(table.key, alike[0].key, Evidence.POSITION)


def _shape(table: Table) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return table.schema, table.kind, tuple((column.name, column.type) for column in table.columns)


def _columns_alike(before: Snapshot, after: Snapshot) -> Iterator[Rename]:
    new = {table.key: table for table in after.tables}
    for table in before.tables:
        other = new.get(table.key)
        if other is None or len(other.columns) != len(table.columns):
            continue
        old_names = {column.name for column in table.columns}
        new_names = {column.name for column in other.columns}
        for one, two in zip(table.columns, other.columns, strict=True):
            if one.name not in new_names and two.name not in old_names and one.type == two.type:
                yield Rename((*table.key, one.name), (*table.key, two.name), Evidence.POSITION)
