"""Random walks over a schema graph: the tables that a made question may be about (DBCopilot §4.3).

A walk depends on its start, its repetition, the seed and the tables near it alone, so that after a change elsewhere
in the schema its questions are found again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from engine.routing.graph import Edge, EdgeKind, Graph
from schema_catalog.types import Snapshot, Table

LENGTHS = (0.5, 0.36, 0.11, 0.03)
"""Share of walks over one, two, three and four tables: about what people ask, a little longer."""

_APPEAL = {
    EdgeKind.FOREIGN_PRIMARY: 1.0,
    EdgeKind.PRIMARY_FOREIGN: 1.0,
    EdgeKind.FOREIGN_FOREIGN: 0.3,
    EdgeKind.IMPLIED: 0.4,
}
"""The weight of an edge in the random choice."""


Walk = tuple[int, ...]
"""Tables by number, each once and linked to one before it."""


def walks(snapshot: Snapshot, graph: Graph, seed: int) -> Iterator[Walk]:
    """Walks without end: each table is the start of one before any is the start of a second. Empty without tables."""
    starts = sorted(range(len(graph)), key=lambda t: _digest(seed, 0, snapshot.tables[t]))
    for repetition in count() if starts else ():
        for start in starts:
            yield walk(
                snapshot, graph, start, np.random.default_rng(_entropy(seed, repetition, snapshot, start))
            )


def walk(snapshot: Snapshot, graph: Graph, start: int, rng: np.random.Generator) -> Walk:
    """One walk from `start`. A table of nothing but keys never ends one where it can go on."""
    wanted = 1 + int(rng.choice(len(LENGTHS), p=LENGTHS))
    tables = [start]
    while len(tables) < wanted or (is_link(snapshot.tables[tables[-1]]) and len(tables) < len(LENGTHS)):
        step = _step(graph, tables, rng)
        if step is None:
            break
        tables.append(step)
    return tuple(tables)


def _step(graph: Graph, tables: Sequence[int], rng: np.random.Generator) -> int | None:
    """A table linked to the last one, else to any before it; None where all have been visited."""
    for source in reversed(tables):
        edges: list[Edge] = [edge for edge in graph.edges[source] if edge.table not in tables]
        if edges:
            appeal = np.array([_APPEAL[edge.kind] for edge in edges])
            return edges[int(rng.choice(len(edges), p=appeal / appeal.sum()))].table
    return None


def _key_columns(table: Table) -> frozenset[str]:
    """Columns of foreign keys, and of a primary key that is a number or a uuid."""
    types = {column.name: column.type for column in table.columns}
    own = [name for name in table.primary_key if types.get(name) in ("integer", "bigint", "uuid")]
    return frozenset(own).union(*(key.columns for key in table.foreign_keys))


def is_link(table: Table) -> bool:
    """Whether a table holds nothing but keys and refers to others with several."""
    return len(table.foreign_keys) > 1 and len(_key_columns(table)) == len(table.columns)


def _entropy(seed: int, repetition: int, snapshot: Snapshot, start: int) -> int:
    return int.from_bytes(_digest(seed, repetition, snapshot.tables[start])[:16], "big")


def _digest(seed: int, repetition: int, table: Table) -> bytes:
    return hashlib.sha256(repr((seed, repetition, table.key)).encode()).digest()
