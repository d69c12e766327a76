"""The databases, tables and links that the pointer scores: an index or a cut of it, numbered from 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.route.index import Index, Quantized, Vectors, runs
from engine.values.schema_graph import Edge, Graph

Numbers = NDArray[np.intp]
Columns: TypeAlias = Vectors | Quantized

PAIRS = 4096
"""Pairs of linked tables of one database at most."""


@dataclass(frozen=True, slots=True)
class CandidateSpace:
    """D databases, T tables, C columns, E pairs of linked tables.

    `databases`, `tables`: their numbers in the index.
    `whole`: (D, d). `texts`: (T, d). `columns`: (C, d), or as 8-bit integers.
    `table_starts`: (D,). `column_starts`: (T,). `owners`: (T,), the database of each table. `pairs`: (E, 2), the
    tables of each link once, and each table with itself; `pair_starts`: (D,). `links`: the edges
    that leave each table; they number the tables of its database from 0.
    """

    databases: Numbers
    tables: Numbers
    whole: Vectors
    texts: Vectors
    columns: Columns
    table_starts: Numbers
    column_starts: Numbers
    owners: Numbers
    pairs: Numbers
    pair_starts: Numbers
    links: tuple[tuple[Edge, ...], ...]

    def tables_of(self, database: int) -> range:
        """The tables of a database."""
        last = database + 1 == len(self.table_starts)
        end = len(self.tables) if last else int(self.table_starts[database + 1])
        return range(int(self.table_starts[database]), end)


def whole_field(index: Index, graphs: Sequence[Graph], columns: Columns) -> CandidateSpace:
    """The whole index; `graphs`: one for each of its databases; `columns`: its own, or quantized. Copies no vector."""
    pairs, pair_starts, links = _linked(index.table_starts, list(graphs))
    return CandidateSpace(
        databases=np.arange(len(index.parts)),
        tables=np.arange(len(index.tables)),
        whole=index.whole,
        texts=index.tables,
        columns=columns,
        table_starts=index.table_starts,
        column_starts=index.column_starts,
        owners=index.owners,
        pairs=pairs,
        pair_starts=pair_starts,
        links=links,
    )


def cut_field(
    index: Index, graphs: Mapping[int, Graph], databases: Numbers, tables: Numbers, columns: Columns
) -> CandidateSpace:
    """The part of an index that `tables` of `databases` make up, both ascending; `graphs` by number."""
    firsts = index.column_starts[tables]
    numbers, column_starts = runs(firsts, index.column_ends[tables] - firsts)
    owners = np.searchsorted(databases, index.owners[tables])
    starts = np.searchsorted(owners, np.arange(len(databases)))
    kept = [_kept(index, graphs[n], n, tables) for n in databases.tolist()]
    pairs, pair_starts, links = _linked(starts, kept)
    return CandidateSpace(
        databases=databases,
        tables=tables,
        whole=index.whole[databases],
        texts=index.tables[tables],
        columns=columns[numbers],
        table_starts=starts,
        column_starts=column_starts,
        owners=owners,
        pairs=pairs,
        pair_starts=pair_starts,
        links=links,
    )


def _kept(index: Index, graph: Graph, database: int, tables: Numbers) -> Graph:
    """A database's graph over those of its tables that are in `tables`, renumbered."""
    first, end = int(index.table_starts[database]), int(index.table_ends[database])
    held = tables[np.searchsorted(tables, first) : np.searchsorted(tables, end)] - first
    if len(held) == len(graph):
        return graph
    anew = {table: number for number, table in enumerate(held.tolist())}
    return Graph(
        tuple(
            tuple(replace(edge, table=anew[edge.table]) for edge in graph.edges[table] if edge.table in anew)
            for table in anew
        )
    )


def _linked(
    table_starts: Numbers, graphs: Sequence[Graph]
) -> tuple[Numbers, Numbers, tuple[tuple[Edge, ...], ...]]:
    pairs: list[tuple[int, int]] = []
    starts: list[int] = []
    links: list[tuple[Edge, ...]] = []
    for first, graph in zip(table_starts.tolist(), graphs, strict=True):
        starts.append(len(pairs))
        pairs += [(first + table, first + table) for table in range(len(graph))]
        found = [(t, edge) for t, edges in enumerate(graph.edges) for edge in edges]
        joined = [(first + t, first + edge.table) for t, edge in found if t < edge.table]
        pairs += joined[:PAIRS]
        links += graph.edges
    return np.array(pairs, dtype=np.intp).reshape(-1, 2), np.array(starts, dtype=np.intp), tuple(links)
