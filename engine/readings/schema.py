"""Schemas as text for a model that follows instructions: a line a column, with all that is known of it.

The text of a schema is the same for every question as long as it fits, so that services find it in their prefix
caches. Comments and values are data: cut short, on one line, quoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.elements import ValueList
from engine.core.state import Route
from engine.prompting.schema_text import listed, marks_text, table_name
from engine.sql.written import quoted
from schema_catalog.naming import quote_ident
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey

COMMENT = 600
"""Characters of what is said of an element, at most: a legend of codes is of use only whole."""

NAMES = 200
"""Tables that are named at most where there is no room for their columns."""


@dataclass(frozen=True, slots=True)
class Described:
    """The text, the part of the snapshot that it shows, and the tables for which there was no room, best first."""

    text: str
    shown: Snapshot
    left: tuple[TableKey, ...] = ()


def described(route: Route, room: int, hidden: frozenset[TableKey] = frozenset()) -> Described:
    """The schema of `route` in `room` characters at most: whole, or its likeliest tables. Blocks: in a thread.

    `hidden`: tables that are left out.
    """
    values = {each.column: each for each in route.lists}
    texts = {
        table.key: _table(table, route.snapshot, values)
        for table in route.snapshot.tables
        if table.key not in hidden
    }
    ordered = [key for key in dict.fromkeys((*route.tables, *texts)) if key in texts]
    kept = _fitting(ordered, texts, room)
    left = tuple(key for key in ordered if key not in kept)
    shown = replace(route.snapshot, tables=tuple(t for t in route.snapshot.tables if t.key in kept))
    text = "\n".join(texts[table.key] for table in shown.tables)
    if left:
        text += "\nfurther tables: " + ", ".join(table_name(route.snapshot, key) for key in left[:NAMES])
    return Described(text, shown, left)


def _fitting(ordered: Sequence[TableKey], texts: Mapping[TableKey, str], room: int) -> frozenset[TableKey]:
    if sum(map(len, texts.values())) <= room:
        return frozenset(texts)
    kept = set[TableKey]()
    for key in ordered:
        if len(texts[key]) <= room or not kept:
            kept.add(key)
            room -= len(texts[key])
    return frozenset(kept)


def _table(table: Table, snapshot: Snapshot, values: Mapping[ColumnKey, ValueList]) -> str:
    keys = {key.columns[0]: key for key in table.foreign_keys if len(key.columns) == 1}
    lines = [f"table {snapshot.display_name(table)}{_said(table)}"]
    for column in table.columns:
        line = f"  {quote_ident(column.name)} {column.type}"
        line += " primary key" if table.primary_key == (column.name,) else ""
        if column.name in keys:
            key = keys[column.name]
            line += f" -> {table_name(snapshot, (key.ref_schema, key.ref_table))}.{quote_ident(key.ref_columns[0])}"
        known = values.get((*table.key, column.name))
        lines.append(line + listed(column.labels if known is None else known.values) + _said(column))
    lines += _composite(table, snapshot)
    return "\n".join(lines)


def _composite(table: Table, snapshot: Snapshot) -> Iterator[str]:
    """Keys of several columns, on lines of their own."""
    if len(table.primary_key) > 1:
        yield f"  primary key ({', '.join(map(quote_ident, table.primary_key))})"
    for key in table.foreign_keys:
        if len(key.columns) > 1:
            own, other = (", ".join(map(quote_ident, names)) for names in (key.columns, key.ref_columns))
            yield f"  ({own}) -> {table_name(snapshot, (key.ref_schema, key.ref_table))} ({other})"


def _said(element: Table | Column) -> str:
    texts = (marks_text(element), ", ".join(element.synonyms), element.description or "")
    text = "; ".join(filter(None, texts))
    return f" {quoted(text, COMMENT)}" if text else ""
