"""Of a schema graph what only tests ask."""

from __future__ import annotations

from collections.abc import Collection

from engine.values.schema_graph import Graph


def connected(graph: Graph, tables: Collection[int]) -> bool:
    """Whether every one of `tables` can be reached from any other within them; true of none and of one."""
    left = set(tables)
    stack = [left.pop()] if left else []
    while stack:
        found = left.intersection(graph.neighbours(stack.pop()))
        left -= found
        stack.extend(found)
    return not left
