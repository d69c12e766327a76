"""The part of a large schema that a question is answered from, so that hundreds of tables cost no more than ten.

Owns which tables these are: an area of tables that refer to each other, the same for every question about it, so that
prompts begin alike and a model's prefix cache serves them; behind it the likely tables that stand elsewhere, those that
join two of the very first, and those of which the question says a value. Linking, prompts and rules see no other; which
columns of a wide table a prompt shows is `engine.write.schema_text`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.values.state import Route
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import Snapshot, TableKey, once_per_snapshot

COLUMNS, OF_PART = 600, 160
"""Columns of a schema that is looked at as a whole, at most, and of the part of a larger one, which has a table at
least."""

AREA = 60
"""Columns of an area, at most."""

FIRST = 6
"""Tables, the likeliest, of which two may be joined by another one."""

OF_VALUES = 4
"""Tables at most that are in it for a value alone."""


@once_per_snapshot
def columns_of(snapshot: Snapshot) -> int:
    """How many it has: those of a large one are answered from a part of it."""
    return sum(len(table.columns) for table in snapshot.tables)


def closest_part(route: Route, of_values: Iterable[TableKey] = ()) -> Route:
    """`route` over the part of its schema, in which are the first tables `of_values`. Not for the event loop."""
    room = OF_PART
    sizes = {table.key: len(table.columns) for table in route.snapshot.tables}
    ranked = [key for key in route.tables if key in sizes]
    valued = list(dict.fromkeys(of_values))[:OF_VALUES]
    likely = [key for key in route.likely if key in sizes] or ranked[:FIRST] or [next(iter(sizes))]
    between = _between(ranked[:FIRST], route.snapshot)
    areas = _areas(route.snapshot)
    kept = dict.fromkeys(next((areas[key] for key in likely if key in areas), ()))
    for key in (*likely, *between, *valued):
        if key in sizes and key not in kept and (key == likely[0] or sizes[key] <= room):
            kept[key] = None
            room -= sizes[key]
    columns = ((*table.key, each.name) for table, each in route.snapshot.columns() if table.key in kept)
    part = route.snapshot.restricted_to(frozenset(columns))
    there = {table.key: table for table in part.tables}
    tables = tuple(there[key] for key in kept)
    ordered = dict.fromkeys(key for key in (*ranked, *kept) if key in kept)
    return replace(route, snapshot=replace(part, tables=tables), tables=tuple(ordered))


@once_per_snapshot
def _areas(snapshot: Snapshot) -> dict[TableKey, list[TableKey]]:
    """Each table's area: tables side by side, as many as have `AREA` columns together; wider ones are in none."""
    sizes = {table.key: len(table.columns) for table in snapshot.tables}
    areas: dict[TableKey, list[TableKey]] = {}
    area: list[TableKey] = []
    room = AREA
    for key in foreign_key_graph(snapshot).islands():
        if sizes[key] <= AREA:
            if sizes[key] > room:
                area, room = [], AREA
            area.append(key)
            areas[key] = area
            room -= sizes[key]
    return areas


def _between(first: Sequence[TableKey], snapshot: Snapshot) -> list[TableKey]:
    """Tables that are joined with two of `first`, as the one of orders and products by their lines."""
    graph = foreign_key_graph(snapshot)
    often = Counter(other for key in first for other in graph.neighbours(key))
    return [key for key, times in often.items() if times > 1]
