"""Parse trees as data: their nodes, and whether two of them are the same.

Owns what is asked of every class of nodes at once. pglast describes their members as it runs, hence Any.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache
from typing import Any

from pglast import ast

_PLACES = frozenset({"location", "rexpr_list_start", "rexpr_list_end", "list_start", "list_end"})


@cache
def children(kind: Any) -> tuple[str, ...]:
    """The members of a class of nodes that hold nodes."""
    return tuple(
        name for name, info in kind.__slots__.items() if info.c_type.endswith("*") and info.c_type != "char*"
    )


@cache
def _told(kind: Any) -> tuple[str, ...]:
    """The members of a class of nodes that do not say where it stands."""
    return tuple(slot for slot in kind.__slots__ if slot not in _PLACES)


def same(one: Any, other: Any) -> bool:
    """Whether two trees are the same, except for the places of their nodes in a text."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, ast.Node) and type(one) is type(other):
        kind: Any = type(one)
        return all(same(getattr(one, slot), getattr(other, slot)) for slot in _told(kind))
    # What a node that was made does not say is what the parser leaves out or sets to false.
    return one == other or not (one or other)


def nodes(root: Any, without: Container[str] = ()) -> Iterator[Any]:
    """Every node of a tree or of several; none below the members `without`."""
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(part)
        elif isinstance(part, ast.Node):
            yield part
            kind: Any = type(part)
            waiting.extend(getattr(part, slot) for slot in children(kind) if slot not in without)
