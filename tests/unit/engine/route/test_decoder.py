"""The search over sets of tables: along the graph, ended, distinct, and no probability lost or made up.

The network is a fake that has an opinion of every step; the constraint under test is the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.route.decoder import HOPELESS, BeamSettings, Found, search, table_scores, table_shares
from engine.values.schema_graph import Edge, EdgeKind, Graph
from tests.support.graphs import connected

Numbers = NDArray[np.intp]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Opinions:
    """Sequences over graphs: each step's logits are drawn from what was chosen, so that they are the same again."""

    graphs: Sequence[Graph]
    heads: tuple[int, ...]
    chosen: tuple[tuple[int, ...], ...]
    seed: int

    @property
    def firsts(self) -> Numbers:
        """Tables of the fields are numbered on from one database to the next."""
        starts = np.cumsum([0, *(len(graph) for graph in self.graphs)])
        return np.array([starts[head] for head in self.heads], dtype=np.intp)

    def log_probabilities(self) -> Vectors:
        """Nothing but neighbours of what was chosen, and the end once there is a table."""
        width = max(len(self.graphs[head]) for head in self.heads)
        logits = np.full((len(self.heads), width + 1), -1e9)
        for row, (head, tables) in enumerate(zip(self.heads, self.chosen, strict=True)):
            rng = np.random.default_rng([self.seed, head, *sorted(tables)])
            graph = self.graphs[head]
            allowed = set(range(len(graph))) if not tables else set()
            for table in tables:
                allowed |= set(graph.neighbours(table))
            for table in allowed - set(tables):
                logits[row, table] = rng.normal()
            if tables:
                logits[row, -1] = rng.normal()
        shares = logits - np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1, keepdims=True))
        found: Vectors = (shares - logits.max(1, keepdims=True)).astype(np.float32)
        return found

    def follow(self, rows: Numbers, columns: Numbers) -> Opinions:
        return Opinions(
            self.graphs,
            tuple(self.heads[row] for row in rows),
            tuple((*self.chosen[row], int(column)) for row, column in zip(rows, columns, strict=True)),
            self.seed,
        )


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 6))
    pairs = draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=8))
    leaving: list[dict[int, Edge]] = [{} for _ in range(size)]
    for one, other in pairs:
        if one != other:
            leaving[one][other] = Edge(other, EdgeKind.FOREIGN_PRIMARY, ("a",), ("b",))
            leaving[other][one] = Edge(one, EdgeKind.PRIMARY_FOREIGN, ("b",), ("a",))
    return Graph(tuple(tuple(edges.values()) for edges in leaving))


def found_in(held: Sequence[Graph], seed: int, settings: BeamSettings) -> tuple[Found, ...]:
    start = Opinions(held, tuple(range(len(held))), ((),) * len(held), seed)
    return search(start, settings)


@given(st.lists(graphs(), min_size=1, max_size=4), st.integers(0, 99), st.integers(1, 6), st.integers(1, 5))
def test_every_set_is_connected_ended_and_named_once(
    held: list[Graph], seed: int, width: int, longest: int
) -> None:
    found = found_in(held, seed, BeamSettings(width=width, longest=longest))
    starts = np.cumsum([0, *(len(graph) for graph in held)])
    named = set()
    for one in found:
        inside = [table - int(starts[one.head]) for table in one.tables]
        assert all(0 <= table < len(held[one.head]) for table in inside)
        assert 1 <= len(inside) <= longest
        assert len(set(inside)) == len(inside)
        assert connected(held[one.head], inside)
        assert (one.head, frozenset(inside)) not in named
        named.add((one.head, frozenset(inside)))
    assert {one.head for one in found} >= {
        head for head in range(len(held)) if may_end_at_once(held, head, seed)
    }


def may_end_at_once(held: Sequence[Graph], head: int, seed: int) -> bool:
    """Whether the likeliest first table alone is a set that no search may miss."""
    firsts = Opinions(held, (head,), ((),), seed).log_probabilities()
    ended = Opinions(held, (head,), ((int(firsts[0, :-1].argmax()),),), seed).log_probabilities()
    return bool(ended[0, -1] > -HOPELESS)


@given(st.lists(graphs(), min_size=1, max_size=3), st.integers(0, 99))
def test_a_wide_search_finds_all_sets_and_their_probabilities_add_up(held: list[Graph], seed: int) -> None:
    found = found_in(held, seed, BeamSettings(width=10_000, longest=6))
    for head in range(len(held)):
        logs = [one.log_probability for one in found if one.head == head]
        assert logs == sorted(logs, reverse=True)
        assert sum(np.exp(logs)) == pytest.approx(1.0, abs=20 * np.exp(-HOPELESS) + 1e-4)


@given(st.lists(graphs(), min_size=1, max_size=3), st.integers(0, 99))
def test_shares_are_those_of_the_sets(held: list[Graph], seed: int) -> None:
    found = [one for one in found_in(held, seed, BeamSettings()) if one.head == 0]
    shares = table_shares(found)
    assert all(0 < share <= 1 + 1e-6 for share in shares.values())
    sizes = np.array([len(one.tables) for one in found])
    weights = np.exp([one.log_probability for one in found])
    assert sum(shares.values()) == pytest.approx(float(sizes @ weights / weights.sum()), rel=1e-5)


def test_a_table_scores_by_the_sets_that_hold_it_and_by_itself() -> None:
    found = [Found(0, (5, 6), float(np.log(0.6))), Found(0, (6,), float(np.log(0.2)))]
    alone = np.log(np.array([0.5, 0.2, 0.3], dtype=np.float32))
    scores = table_scores(range(5, 8), alone, found)
    assert scores.tolist() == pytest.approx([0.15 + 0.525, 0.06 + 0.7, 0.09])
    assert table_scores(range(5, 8), alone, []).tolist() == pytest.approx([0.5, 0.2, 0.3])
