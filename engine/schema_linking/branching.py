"""Branching points (RTS §3.2): which decisions of a linker may be wrong, and what may be meant in their place.

Probes of several layers, put together by majority or along a random permutation (RTS §3.2.3). To promise 1 - alpha
itself, the aggregate is calibrated as a whole: a label's level is the least coverage of the layers' sets at which the
aggregate holds it, and is a nonconformity score. Owns the artifact, which is void with any other linker:

    layers, w1, b1, w2, b2      probes of all layers (`engine.schema_linking.probes.Probes`)
    chosen, aggregation         places of the k probes that are used, and how they are put together
    reference                   (k, r): scores that levels are measured by (`levels`)
    table, column               sorted levels of calibration branching points by kind
    databases                   names of those that calibrated
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.elements import WHOLE_TABLE, BranchingPoint
from engine.models.packaged import PackagedError, read
from engine.models.shipped import shipped
from engine.schema_linking.linker import Decision, probabilities
from engine.schema_linking.nodes import NodeStates
from engine.schema_linking.probes import Flags, Floats, Probes, assembled, at_most, inputs_of
from schema_catalog.types import ColumnKey, Snapshot

HALF = 0.5
SEED = 1


class Aggregation(StrEnum):
    """How the layers' sets become one."""

    MAJORITY = "majority"
    PERMUTATION = "permutation"


def orders(layers: int, places: NDArray[np.int64], seed: int = SEED) -> NDArray[np.int64]:
    """A random permutation of the layers for each decision, (layers, m), by its place among its question's, (m,)."""
    drawn = np.random.default_rng(seed).random((int(places.max(initial=-1)) + 1, layers))
    return np.argsort(drawn, axis=1).T[:, places]


def levels(scores: Floats, reference: Floats) -> Floats:
    """The coverage at which each layer's set takes in a label of these scores, (layers, m), by sorted `reference`."""
    shares = np.arange(reference.shape[1] + 2) / (reference.shape[1] + 1)
    return np.stack(
        [
            np.interp(own, np.concatenate([[0.0], known, [1.0]]), shares)
            for own, known in zip(scores, reference, strict=True)
        ]
    )


def majority_level(of_layers: Floats, theta: float = HALF) -> Floats:
    """The least coverage at which more than `theta` of the layers' sets hold the label: (m,), of (layers, m)."""
    return np.asarray(np.sort(of_layers, axis=0)[int(theta * len(of_layers))])


def permuted_level(of_layers: Floats, permutations: NDArray[np.int64]) -> Floats:
    """As `majority_level`: at which half of the first i sets hold it, for every i. Raises `ValueError`: even layers."""
    check_odd(len(of_layers))
    along = np.take_along_axis(of_layers, permutations, axis=0)
    # Half of the first i hold it from the ⌈i / 2⌉-th smallest level on.
    halves = [np.sort(along[: i + 1], axis=0)[i // 2] for i in range(len(along))]
    return np.asarray(np.max(halves, axis=0))


def level_of(aggregation: Aggregation, of_layers: Floats, places: NDArray[np.int64]) -> Floats:
    """The least coverage at which `aggregation` holds the label, (m,); `places` as in `orders`."""
    if aggregation is Aggregation.MAJORITY:
        return majority_level(of_layers)
    return permuted_level(of_layers, orders(len(of_layers), places))


def check_odd(layers: int) -> None:
    """An even number of layers may be tied: raises `ValueError`."""
    if layers % 2 == 0:
        raise ValueError(f"an odd number of layers has a majority, {layers} may be tied")


ALTERNATIVES = 3


def trace_back(
    flagged: Sequence[Decision], decisions: Sequence[Decision], states: NodeStates
) -> tuple[BranchingPoint, ...]:
    """Each of `flagged` with the likeliest elements of its kind that were decided the other way."""
    linked = frozenset(decision.element for decision in decisions if decision.linked)
    chances = probabilities(states)
    ordered = sorted(chances, key=chances.__getitem__, reverse=True)
    return tuple(
        BranchingPoint(decision.element, decision.linked, _alternatives(decision, linked, ordered))
        for decision in flagged
    )


def _alternatives(
    decision: Decision, linked: frozenset[ColumnKey], ordered: Sequence[ColumnKey]
) -> tuple[ColumnKey, ...]:
    of_table = _is_table(decision.element)
    others = (
        element
        for element in ordered
        if _is_table(element) == of_table
        and (element in linked) != decision.linked
        and element != decision.element
    )
    return tuple(islice(others, ALTERNATIVES))


def _is_table(element: ColumnKey) -> bool:
    return element[2] == WHOLE_TABLE


NAME, FORMAT = "branching", 1
ALPHA = 0.1


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
    """Flags decisions of one linker. `alpha` in (0, 1): the share of tables, and of columns, that may be missed."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], *, alpha: float = ALPHA) -> None:
        self._detector = detector_of(arrays)
        self._most = {kind: at_most(arrays[kind.value].astype(np.float64), 1.0 - alpha) for kind in Kind}

    @classmethod
    def of(cls, folder: Path, linker: str, *, alpha: float = ALPHA) -> TrainedBranching:
        """Reads an artifact; raises `PackagedError`, also where it was trained on another linker than `linker`."""
        model = read(folder, NAME, FORMAT)
        if model.manifest.encoder != linker:
            raise PackagedError(
                f"{folder} finds branching points of the linker {model.manifest.encoder}, not of {linker}: "
                "train it on this one with python -m training.branching"
            )
        return cls(model.arrays, alpha=alpha)

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
