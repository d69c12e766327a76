"""Finds the decisions of a linker that may be branching points, with a promise of how many of them (RTS §3.2).

Owns the artifact: probes of some layers and the levels that calibrate their aggregate. It belongs to one version of one
linker, since the probes read its hidden states, and is void with any other.

    layers, w1, b1, w2, b2      probes of all layers (`engine.schema_linking.probes.Probes`)
    chosen, aggregation         places of the k probes that are used, and how they are put together
    reference                   (k, r): scores that levels are measured by (`engine.schema_linking.aggregation.levels`)
    table, column, question     sorted levels of calibration branching points by kind, and of calibration questions
    databases                   names of those that calibrated
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.elements import WHOLE_TABLE, BranchingPoint
from engine.models.packaged import PackagedError, read
from engine.models.shipped import shipped
from engine.schema_linking.aggregation import Aggregation, level_of, levels
from engine.schema_linking.decisions import Decision
from engine.schema_linking.hidden_states import NodeStates
from engine.schema_linking.prediction_sets import Flags, Floats, at_most
from engine.schema_linking.probes import Probes, assembled, inputs_of
from engine.schema_linking.trace_back import trace_back
from schema_catalog.types import Snapshot

NAME, FORMAT = "branching", 1
ALPHA = 0.1


class Promise(StrEnum):
    """What is flagged with probability 1 - alpha, where questions and calibration are exchangeable."""

    DECISION = "decision"
    """A branching point that is a table, and one that is a column."""
    QUESTION = "question"
    """All branching points of a question that has any."""


class Kind(StrEnum):
    """What a decision is about."""

    TABLE = "table"
    COLUMN = "column"


def kind_of(decision: Decision) -> Kind:
    """What `decision` is about."""
    return Kind.TABLE if decision.element[2] == WHOLE_TABLE else Kind.COLUMN


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("schema_linking/branching")


@dataclass(frozen=True, slots=True)
class Detector:
    """Probes whose predictions are put together. `reference`: (k, r), sorted."""

    probes: Probes
    reference: Floats
    aggregation: Aggregation

    def levels(self, states: NodeStates, decisions: Sequence[Decision], snapshot: Snapshot) -> Floats:
        """The least coverage at which each decision is flagged, (m,)."""
        given = assembled(inputs_of(states, decisions, snapshot), self.probes.layers)
        return self.aggregated(self.probes.chances(given), np.arange(len(decisions)))

    def aggregated(self, chances: Floats, places: NDArray[np.int64]) -> Floats:
        """The same of the probes' chances, (k, m), and the decisions' places among their questions', (m,)."""
        return level_of(self.aggregation, levels(1.0 - chances, self.reference), places)


def detector_of(arrays: Mapping[str, NDArray[Any]]) -> Detector:
    """From an artifact's arrays."""
    probes = Probes.of(arrays).only(arrays["chosen"])
    reference = arrays["reference"].astype(np.float64)
    return Detector(probes, reference, Aggregation(str(arrays["aggregation"])))


class TrainedBranching:
    """Flags decisions of one linker. `alpha` in (0, 1): the share that may be missed of what `promise` says."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        *,
        alpha: float = ALPHA,
        promise: Promise = Promise.DECISION,
    ) -> None:
        self._detector = detector_of(arrays)
        names = {kind: kind.value if promise is Promise.DECISION else promise.value for kind in Kind}
        self._most = {
            kind: at_most(arrays[name].astype(np.float64), 1.0 - alpha) for kind, name in names.items()
        }

    @classmethod
    def of(
        cls, folder: Path, linker: str, *, alpha: float = ALPHA, promise: Promise = Promise.DECISION
    ) -> TrainedBranching:
        """Reads an artifact; raises `PackagedError`, also where it was trained on another linker than `linker`."""
        model = read(folder, NAME, FORMAT)
        if model.manifest.encoder != linker:
            raise PackagedError(
                f"{folder} finds branching points of the linker {model.manifest.encoder}, not of {linker}: "
                "train it on this one with python -m training.branching"
            )
        return cls(model.arrays, alpha=alpha, promise=promise)

    def points(
        self, states: NodeStates, decisions: Sequence[Decision], snapshot: Snapshot
    ) -> tuple[BranchingPoint, ...]:
        """The flagged of `decisions`, which were taken about `states` of `snapshot`, in their order."""
        flags = self.flagged(states, decisions, snapshot)
        flagged = [decision for decision, flag in zip(decisions, flags, strict=True) if flag]
        return trace_back(flagged, decisions, states)

    def flagged(self, states: NodeStates, decisions: Sequence[Decision], snapshot: Snapshot) -> Flags:
        """Which of `decisions` may be branching points, (m,). All where calibration had too few for the promise."""
        found = self._detector.levels(states, decisions, snapshot)
        return found <= np.array([self._most[kind_of(decision)] for decision in decisions])
