"""The part of a large schema that a question is answered from, so that hundreds of tables cost no more than ten.

Owns which tables these are: the router's first, those that join two of the very first, and those of which the
question says a value. Linking, prompts and rules see no other; which columns of a wide table a prompt shows is
`engine.prompting.schema_text`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.core.state import Route
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import Snapshot, TableKey, once_per_snapshot

COLUMNS, OF_PART = 600, 160
"""Columns of a schema that is looked at as a whole, at most, and of the part of a larger one, which has a table at
least."""

FOR_READINGS = 2_000
"""Both, for a model that follows instructions: it has room for them, and asks for what is left out."""

FIRST = 6
"""Tables, the likeliest, of which two may be joined by another one."""

OF_VALUES = 4
"""Tables at most that are in it for a value alone."""


@once_per_snapshot
def columns_of(snapshot: Snapshot) -> int:
    """How many it has: those of a large one are answered from a part of it."""
    return sum(len(table.columns) for table in snapshot.tables)


def closest_part(route: Route, of_values: Iterable[TableKey] = (), room: int = OF_PART) -> Route:
    """`route` over the part of its schema, in which are the first tables `of_values`. Not for the event loop.

    `room`: for columns.
    """
    sizes = {table.key: len(table.columns) for table in route.snapshot.tables}
    first = [key for key in route.tables if key in sizes][:FIRST]
    valued = list(dict.fromkeys(of_values))[:OF_VALUES]
    ordered = dict.fromkeys((*first, *_between(first, route.snapshot), *valued, *route.tables, *sizes))
    kept: list[TableKey] = []
    for key in ordered:
        if key in sizes and (not kept or sizes[key] <= room):
            kept.append(key)
            room -= sizes[key]
    there = frozenset(kept)
    columns = ((*table.key, each.name) for table, each in route.snapshot.columns() if table.key in there)
    return replace(route, snapshot=route.snapshot.restricted_to(frozenset(columns)), tables=tuple(kept))


def _between(first: Sequence[TableKey], snapshot: Snapshot) -> list[TableKey]:
    """Tables that are joined with two of `first`, as the one of orders and products by their lines."""
    graph = foreign_key_graph(snapshot)
    often = Counter(other for key in first for other in graph.neighbours(key))
    return [key for key, times in often.items() if times > 1]
