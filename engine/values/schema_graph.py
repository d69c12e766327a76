"""The schema graph of one database (DBCopilot §4.1), as an asker sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import permutations

from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.implied_references import undeclared_joins
from schema_catalog.types import ColumnKey, Snapshot

SIBLINGS = 48
"""Tables that share one column and are linked pairwise, at most: more are linked to the referenced table alone."""


class EdgeKind(IntEnum):
    """The kind of a link; of several the lowest holds."""

    FOREIGN_PRIMARY = 0
    """The first has a foreign key to the second."""
    PRIMARY_FOREIGN = 1
    """The second has a foreign key to the first."""
    FOREIGN_FOREIGN = 2
    """Both have a foreign key to the same columns of a third, so they join without it."""
    IMPLIED = 3
    """Proposed, or by names and types: without a foreign key."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link to table number `table`: `columns` here equal `other_columns` there, pairwise."""

    table: int
    kind: EdgeKind
    columns: tuple[str, ...]
    other_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """Tables by number; `edges[t]` leave table t, none to itself or twice to the same, each with its opposite."""

    edges: tuple[tuple[Edge, ...], ...]

    @staticmethod
    def of(snapshot: Snapshot) -> Graph:
        """The graph of a snapshot; linear in its columns, and in its foreign keys times `SIBLINGS` at most."""
        best: dict[tuple[int, int], Edge] = {}
        for source, edge in _links(snapshot):
            held = best.get((source, edge.table))
            if source != edge.table and (held is None or edge.kind < held.kind):
                best[source, edge.table] = edge
        leaving: list[list[Edge]] = [[] for _ in snapshot.tables]
        for (source, _), edge in sorted(best.items(), key=lambda item: item[0]):
            leaving[source].append(edge)
        return Graph(tuple(map(tuple, leaving)))

    def __len__(self) -> int:
        """The number of tables."""
        return len(self.edges)

    def neighbours(self, table: int) -> tuple[int, ...]:
        """The tables linked to `table`, ascending."""
        return tuple(edge.table for edge in self.edges[table])


def _links(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    yield from _references(snapshot)
    yield from _implied(snapshot)


def _references(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    """Foreign keys both ways, and pairs of tables with one to the same columns."""
    references = foreign_key_graph(snapshot)
    numbers = {table.key: number for number, table in enumerate(snapshot.tables)}
    referrers: dict[tuple[int, tuple[str, ...]], dict[int, tuple[str, ...]]] = defaultdict(dict)
    for key, number in numbers.items():
        for edge in references.edges(key):
            other = numbers.get(edge.other)
            if other is None:
                continue
            kind = EdgeKind.FOREIGN_PRIMARY if edge.referring else EdgeKind.PRIMARY_FOREIGN
            yield number, Edge(other, kind, edge.columns, edge.other_columns)
            if edge.referring:
                referrers[other, edge.other_columns].setdefault(number, edge.columns)
    for sharing in referrers.values():
        yield from _pairs(sharing, EdgeKind.FOREIGN_FOREIGN)


def _pairs(sharing: dict[int, tuple[str, ...]], kind: EdgeKind) -> Iterator[tuple[int, Edge]]:
    if len(sharing) <= SIBLINGS:
        for one, other in permutations(sharing, 2):
            yield one, Edge(other, kind, sharing[one], sharing[other])


def _implied(snapshot: Snapshot) -> Iterator[tuple[int, Edge]]:
    """Joins that nobody declared, both ways, and pairs of tables with one to the same column."""
    numbers = {table.key: number for number, table in enumerate(snapshot.tables)}
    referrers: dict[ColumnKey, dict[int, tuple[str, ...]]] = defaultdict(dict)
    for (*table, column), (*other, referred) in undeclared_joins(snapshot):
        one, two = numbers[table[0], table[1]], numbers[other[0], other[1]]
        yield one, Edge(two, EdgeKind.IMPLIED, (column,), (referred,))
        yield two, Edge(one, EdgeKind.IMPLIED, (referred,), (column,))
        referrers[other[0], other[1], referred].setdefault(one, (column,))
    for sharing in referrers.values():
        yield from _pairs(sharing, EdgeKind.IMPLIED)
