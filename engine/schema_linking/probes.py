"""Whether a decision of schema linking is right (RTS §3.1): a two-layer perceptron for each of some layers, in numpy.

Owns what a probe sees of a decision, and its forward pass. Training is `training.branching`'s, putting several
layers together `engine.schema_linking.branching`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.calibration.conformal import quantile
from engine.core.elements import WHOLE_TABLE
from engine.routing.graph import Graph
from engine.schema_linking.linker import Decision
from engine.schema_linking.nodes import NodeStates
from schema_catalog.types import ColumnKey, Snapshot

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def at_most(scores: Floats, coverage: float) -> float:
    """The threshold of `scores`, (n,); infinite where n is too small. Raises as `quantile`."""
    value = quantile(scores, coverage)
    return np.inf if value is None else value


SURE = 6.0
"""Log-odds beyond which nothing is surer; of a node that is not there they are -SURE."""

_ARRAYS = ("w1", "b1", "w2", "b2")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What probes see of m decisions.

    `states`: of the decisions' nodes, (layers, m, d). `context`: the decision among the others of its schema,
    (m, CONTEXT).
    """

    states: NDArray[np.float32]
    context: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Probes:
    """`layers`: the linker's layers that have one, (k,). Weights with inputs f and hidden units h, as float32.

    `w1`: (k, f, h), `b1`: (k, h), `w2`: (k, h), `b2`: (k,).
    """

    layers: NDArray[np.int64]
    w1: NDArray[np.float32]
    b1: NDArray[np.float32]
    w2: NDArray[np.float32]
    b2: NDArray[np.float32]

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Probes:
        """From an artifact's arrays."""
        return cls(arrays["layers"].astype(np.int64), *(arrays[key].astype(np.float32) for key in _ARRAYS))

    def only(self, chosen: Iterable[int]) -> Probes:
        """Those at these places."""
        at = list(chosen)
        return Probes(self.layers[at], *(getattr(self, key)[at] for key in _ARRAYS))

    def chances(self, given: NDArray[np.floating[Any]]) -> Floats:
        """P(branching point) of each decision by each probe, (k, m), of what `assembled` gives for their layers."""
        hidden = np.maximum(given @ self.w1 + self.b1[:, None, :], 0.0)
        odds = np.einsum("kmh,kh->km", hidden, self.w2, dtype=np.float64) + self.b2[:, None]
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def assembled(inputs: Inputs, layers: NDArray[np.int64]) -> NDArray[np.float32]:
    """The probes' inputs, (k, m, f): of each layer the node's state, and the context."""
    context = np.broadcast_to(inputs.context, (len(layers), *inputs.context.shape))
    return np.concatenate([inputs.states[layers], context], axis=2, dtype=np.float32)


def inputs_of(states: NodeStates, decisions: Sequence[Decision], snapshot: Snapshot) -> Inputs:
    """What is seen of `decisions`, which are about `states`' nodes; `snapshot` is the schema of both."""
    nodes = [decision.node for decision in decisions]
    surroundings = _Surroundings(states, snapshot)
    rows = [surroundings.row(decision) for decision in decisions]
    context = np.array(rows, dtype=np.float32).reshape(len(rows), CONTEXT)
    return Inputs(states.states[:, nodes], context)


CONTEXT = 16
"""Numbers in a row of `Inputs.context`."""


class _Surroundings:
    def __init__(self, states: NodeStates, snapshot: Snapshot) -> None:
        self._odds = {node: float(odds) for node, odds in zip(states.nodes, states.log_odds, strict=True)}
        self._answerable = float(_log_odds(states.answerable))
        self._columns: dict[ColumnKey, list[ColumnKey]] = defaultdict(list)
        self._named: dict[str, list[ColumnKey]] = defaultdict(list)
        for schema, table, column in states.nodes:
            if column != WHOLE_TABLE:
                self._columns[schema, table, WHOLE_TABLE].append((schema, table, column))
                self._named[column].append((schema, table, column))
        self._tables = [node for node in states.nodes if node[2] == WHOLE_TABLE]
        self._keys = _keys_of(snapshot)
        graph = Graph.of(snapshot)
        self._near = {
            table: [self._tables[other] for other in graph.neighbours(number)]
            for number, table in enumerate(self._tables)
        }

    def row(self, decision: Decision) -> list[float]:
        """The decision, its element's log-odds and those it competes with, the doubts of the whole schema."""
        element = decision.element
        table = (*element[:2], WHOLE_TABLE)
        is_table = element == table
        beside = self._tables if is_table else self._columns[table]
        others = [self._odds[each] for each in beside if each != element]
        below = self._columns[table] if is_table else self._named[element[2]]
        related = [self._odds[each] for each in below if each != element]
        near = [self._odds[each] for each in self._near[table]]
        own = self._odds[element]
        chances = 1.0 / (1.0 + np.exp(-np.array([*others, own])))
        return [
            1.0 if decision.linked else -1.0,
            own,
            abs(own),
            float(is_table),
            self._odds[table],
            max(others, default=-SURE),
            min((abs(each) for each in others), default=SURE),
            max(related, default=-SURE),
            max(near, default=-SURE),
            float(sum(each > 0 for each in near)),
            float(chances.sum()),
            float(np.minimum(chances, 1 - chances).sum()),
            float(np.log(len(beside))),
            float(np.log(len(self._tables))),
            float(element in self._keys),
            self._answerable,
        ]


def _keys_of(snapshot: Snapshot) -> frozenset[ColumnKey]:
    return frozenset(
        (*table.key, name)
        for table in snapshot.tables
        for names in (table.primary_key, *(key.columns for key in table.foreign_keys))
        for name in names
    )


def _log_odds(chance: float) -> float:
    kept = min(max(chance, 1e-4), 1 - 1e-4)
    return float(np.clip(np.log(kept / (1 - kept)), -SURE, SURE))
