"""The picture of a database: which of its tables and joins are drawn, and what stands in their boxes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from page.elements import Definition, Element
from page.schema_graph import Graph, Join, Name, Origin, schema_graph


@dataclass(frozen=True, slots=True)
class Picture:
    """`notes`: descriptions. `found`: the tables that were searched for; empty where none was."""

    graph: Graph
    notes: Mapping[Name, str]
    found: frozenset[Name]


def picture(tables: Sequence[Element], joins: Sequence[Join], wanted: Collection[Name] | None) -> Picture:
    """All tables; with `wanted` those, and those that a join connects with them."""
    notes = {table_name(each): each.description or "" for each in tables}
    names, found = list(notes), frozenset(notes).intersection(wanted or ())
    if wanted is not None:
        near = {
            end
            for join in joins
            for end in (join.table, join.referred)
            if {join.table, join.referred} & found
        }
        names = [name for name in names if name in found | near]
    drawn = [join for join in joins if {join.table, join.referred} <= set(names)]
    return Picture(schema_graph(names, drawn), notes, found)


def table_name(table: Element) -> Name:
    """(schema, table) of a table or column."""
    return (table.path.schema, table.path.table)


def keyed(keys: Iterable[asyncpg.Record]) -> Iterable[Join]:
    """The foreign ones of `elements.KEYS`."""
    for schema, table, kind, columns, to_schema, to_table, to_columns in keys:
        if kind == "foreign":
            words = f"{table} ({', '.join(columns)}) refers to {to_table} ({', '.join(to_columns)})"
            yield Join((schema, table), (to_schema, to_table), words)


def said(tables: Iterable[Element], joins: Iterable[Definition], origin: Origin) -> Iterable[Join]:
    """Joins by the tables whose written names their columns' begin with."""
    by_name = {each.name: table_name(each) for each in tables}
    for join in joins:
        ends = [
            next((key for name, key in by_name.items() if column.startswith(f"{name}.")), None)
            for column in (join.name, join.body)
        ]
        if ends[0] is not None and ends[1] is not None:
            yield Join(ends[0], ends[1], f"{join.name} refers to {join.body}, {origin}", origin)
