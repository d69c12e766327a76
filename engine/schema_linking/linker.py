"""The schema linker: decisions over the states of a model that can be looked into.

Owns turning log-odds and decisions into `SchemaLinks`. The model is a `HiddenStates`, and a `BranchingPredictor` says
which decisions may be wrong: both come in.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from engine.core.elements import WHOLE_TABLE, BranchingPoint, SchemaLinks
from engine.models.shipped import shipped
from engine.schema_linking.decisions import Decision, decide
from engine.schema_linking.nodes import HiddenStates, NodeStates
from schema_catalog.types import ColumnKey, Snapshot

NAME, FORMAT = "linker", 1


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("schema_linking/base")


class BranchingPredictor(Protocol):
    """Tells which decisions may be wrong."""

    def points(
        self, states: NodeStates, decisions: Sequence[Decision], snapshot: Snapshot
    ) -> tuple[BranchingPoint, ...]:
        """Those of `decisions`, in their order."""


class TrainedLinker:
    """`engine.core.ports.SchemaLinker`; without `branching` no decision is said to be doubtful."""

    def __init__(self, model: HiddenStates, branching: BranchingPredictor | None = None) -> None:
        self._model = model
        self._branching = branching

    def link(self, question: str, snapshot: Snapshot) -> SchemaLinks | None:
        """See `engine.core.ports.SchemaLinker.link`; raises `EncoderUnavailableError`."""
        states = self._model.read(question, snapshot)
        if states is None:
            return None
        decisions = decide(states, snapshot)
        return SchemaLinks(
            probabilities(states),
            frozenset(decision.element for decision in decisions if decision.linked),
            () if self._branching is None else self._branching.points(states, decisions, snapshot),
            states.answerable,
        )


def probabilities(states: NodeStates) -> dict[ColumnKey, float]:
    """That each node is read: of a column, that its table is, times that it is where its table is."""
    alone = dict(zip(states.nodes, (1 / (1 + np.exp(-states.log_odds))).tolist(), strict=True))
    return {
        node: chance if node[2] == WHOLE_TABLE else chance * alone[*node[:2], WHOLE_TABLE]
        for node, chance in alone.items()
    }
