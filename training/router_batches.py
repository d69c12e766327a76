"""What a step of the learned router's training takes: questions whose databases and tables are known, as arrays.

Schema vectors are frozen, so every step compares a question's right database with all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.question.tokens import question_words
from engine.route.candidate_space import CandidateSpace, whole_field
from engine.route.index import Index
from engine.route.scoring import database_words, table_words, word_shares
from engine.values.schema_graph import Graph

States = NDArray[np.float16]
"""The frozen layers' output for one text, (tokens, d)."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the database that answers it, by number in the index, and its tables, by number there."""

    question: str
    database: int
    tables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Terrain:
    """The D databases to choose from, with T tables. `graphs`: one for each; `field`: the whole index."""

    index: Index
    graphs: tuple[Graph, ...]
    field: CandidateSpace

    @staticmethod
    def of(index: Index) -> Terrain:
        """Everything an index holds."""
        graphs = tuple(part.graph for part in index.parts)
        return Terrain(index, graphs, whole_field(index, graphs, index.columns))


@dataclass(frozen=True, slots=True)
class Batch:
    """The questions of one step.

    `words`: (B, T), `coverage`: (B, D). `databases`: the right ones, by number in the field. `orders`: the right
    tables, by number in the field, in the order to be decoded.
    """

    states: tuple[States, ...]
    words: NDArray[np.float32]
    coverage: NDArray[np.float32]
    databases: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]


def rate(step: int, steps: int) -> float:
    """Share of the full learning rate: rises over the first twentieth, then falls evenly to a thirtieth."""
    warm = max(1, min(30, steps // 20))
    return min(1.0, (step + 1) / warm) * max(1 / 30, 1 - step / steps)


def batch_of(
    terrain: Terrain, examples: Sequence[Example], states: Sequence[States], rng: np.random.Generator
) -> Batch:
    """Examples as a step takes them; a set's tables come depth-first along the graph, in a drawn order."""
    shares = [lexical(question_words(one.question), terrain.index) for one in examples]
    orders = []
    for one in examples:
        first = terrain.field.tables_of(one.database).start
        ordered = serialise(terrain.graphs[one.database], one.tables, rng)
        orders.append(tuple(first + int(table) for table in ordered))
    return Batch(
        states=tuple(states),
        words=np.stack([words for words, _ in shares]).astype(np.float32),
        coverage=np.stack([coverage for _, coverage in shares]).astype(np.float32),
        databases=tuple(one.database for one in examples),
        orders=tuple(orders),
    )


def lexical(words: Sequence[str], index: Index) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each table's share of the words, by weight, and each database's, in [0, 1]: (T,) and (D,)."""
    shares = word_shares(words, index)
    every = np.arange(len(index.tables))
    return table_words(words, shares, index, every), database_words(words, shares, index)


def serialise(graph: Graph, tables: Iterable[int], rng: np.random.Generator | None = None) -> tuple[int, ...]:
    """`tables` by depth-first search (DBCopilot, algorithm 2), by number or drawn from `rng`, piece after piece."""
    wanted = set(tables)
    visited: dict[int, None] = {}
    stack = _ordered(wanted, rng)
    while len(visited) < len(wanted):
        table = stack.pop()
        if table not in visited:
            visited[table] = None
            stack += _ordered(wanted.intersection(graph.neighbours(table)).difference(visited), rng)
    return tuple(visited)


def _ordered(tables: Collection[int], rng: np.random.Generator | None) -> list[int]:
    """A stack of `tables`: the first to visit stands last."""
    stack = sorted(tables, reverse=True)
    if rng is not None:
        rng.shuffle(stack)
    return stack
