"""The graph of a snapshot's foreign keys.

Owns the walks over it: edges, neighbours, shortest paths, and the columns that references make equal. A graph is built
once per snapshot and lives as long as the snapshot does. Does not infer references that no foreign key declares.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schema_catalog.types import ColumnKey, Snapshot, TableKey, once_per_snapshot


@dataclass(frozen=True, slots=True)
class Edge:
    """A foreign key seen from `table`: `columns` there equal `other_columns` of `other`, pairwise.

    `referring`: `table` holds the foreign key; False where `other` does.
    """

    table: TableKey
    columns: tuple[str, ...]
    other: TableKey
    other_columns: tuple[str, ...]
    referring: bool


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ForeignKeyGraph:
    """Built by `foreign_key_graph`. Tables and columns that it does not know have no edges.

    A foreign key to a table outside the snapshot has edges as any other, but no path leads through such a table.
    """

    _tables: frozenset[TableKey]
    _edges: Mapping[TableKey, tuple[Edge, ...]]
    _counterparts: Mapping[ColumnKey, frozenset[ColumnKey]]
    _referred: Mapping[ColumnKey, ColumnKey]

    def edges(self, table: TableKey) -> tuple[Edge, ...]:
        """The foreign keys of `table` and those to it, in catalog order; one of a table to itself twice."""
        return self._edges.get(table, ())

    def neighbours(self, table: TableKey) -> tuple[TableKey, ...]:
        """The tables of the snapshot, without `table`, that it refers to or that refer to it; sorted."""
        return tuple(sorted({edge.other for edge in self.edges(table)}.intersection(self._tables) - {table}))

    def column_pairs(self, one: TableKey, other: TableKey) -> list[tuple[str, str]]:
        """(column of `one`, column of `other`) for every foreign key of one column between them, either way."""
        return [
            (edge.columns[0], edge.other_columns[0])
            for edge in self.edges(one)
            if edge.other == other and len(edge.columns) == 1
        ]

    def path(self, sources: Iterable[TableKey], goal: TableKey) -> tuple[Edge, ...]:
        """The shortest chain of edges from any of `sources` to `goal`; empty where there is none."""
        seen = dict.fromkeys(sources)
        queue = deque[tuple[TableKey, tuple[Edge, ...]]]((source, ()) for source in seen)
        while queue:
            table, path = queue.popleft()
            for edge in self.edges(table):
                if edge.other == goal:
                    return (*path, edge)
                if edge.other in self._tables and edge.other not in seen:
                    seen[edge.other] = None
                    queue.append((edge.other, (*path, edge)))
        return ()

    def reachable(self, sources: Iterable[TableKey], goal: TableKey) -> bool:
        """Whether a chain of at least one edge leads from one of `sources` to `goal`."""
        return bool(self.path(sources, goal))

    def islands(self) -> dict[TableKey, TableKey]:
        """For each table of the snapshot one that stands for all which chains of edges join with it.

        In an order in which each stands near those that it refers to or that refer to it.
        """
        found: dict[TableKey, TableKey] = {}
        for table in sorted(self._tables):
            queue = deque([table])
            while queue:
                if (key := queue.popleft()) not in found:
                    found[key] = table
                    queue.extend(self.neighbours(key))
        return found

    def counterparts(self, column: ColumnKey) -> frozenset[ColumnKey]:
        """The columns that `column` refers to and those that refer to it; none where it is part of no foreign key."""
        return self._counterparts.get(column, frozenset())

    def referred(self, column: ColumnKey) -> frozenset[ColumnKey]:
        """The columns that `column` refers to by a foreign key of its own."""
        return frozenset(
            (*edge.other, edge.other_columns[0])
            for edge in self.edges(column[:2])
            if edge.referring and edge.columns == column[2:]
        )

    def root(self, column: ColumnKey) -> ColumnKey:
        """The column that `column` refers to in the end; itself where it refers to none.

        A reference does not count where its table refers to the same column by another one too: the origin of a
        flight is not its destination.
        """
        met = {column}
        while (referred := self._referred.get(column)) is not None and referred not in met:
            column = referred
            met.add(column)
        return column


@once_per_snapshot
def foreign_key_graph(snapshot: Snapshot) -> ForeignKeyGraph:
    """The graph of `snapshot`: the same one at every call, linear in the number of foreign keys at the first."""
    edges: dict[TableKey, list[Edge]] = defaultdict(list)
    counterparts: dict[ColumnKey, set[ColumnKey]] = defaultdict(set)
    references: list[tuple[ColumnKey, ColumnKey]] = []
    for table in snapshot.tables:
        for key in table.foreign_keys:
            target = (key.ref_schema, key.ref_table)
            edges[table.key].append(Edge(table.key, key.columns, target, key.ref_columns, referring=True))
            edges[target].append(Edge(target, key.ref_columns, table.key, key.columns, referring=False))
            for name, other in zip(key.columns, key.ref_columns, strict=True):
                references.append(((*table.key, name), (*target, other)))
    for own, referred in references:
        counterparts[own].add(referred)
        counterparts[referred].add(own)
    times = Counter((own[:2], referred) for own, referred in references)
    return ForeignKeyGraph(
        frozenset(table.key for table in snapshot.tables),
        {table: tuple(leaving) for table, leaving in edges.items()},
        {column: frozenset(others) for column, others in counterparts.items()},
        {own: referred for own, referred in references if times[own[:2], referred] == 1},
    )
