"""The ways to flag decisions that are compared, each calibrated on one set of decisions and used on another.

Tables and columns are calibrated apart, as the paper has a linker for each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.harness.drawing import FOLDS, fold_of
from benchmarks.quality.linking.decided import Decided, Decisions
from benchmarks.quality.linking.prediction_sets import majority, marginal, permuted
from engine.schema_linking.branching import Aggregation, Detector, Kind, orders
from engine.schema_linking.probes import Flags, Floats, at_most

Way = Callable[[Detector, Decisions, Decisions, float], Flags]
"""(detector, calibration decisions, decisions, alpha) → which of the decisions are flagged, (m,)."""


def by_sets(detector: Detector, known: Decisions, asked: Decisions, alpha: float) -> Flags:
    """RTS's: each layer's sets at 1 - alpha over all decisions, put together. Promises nothing of branching points."""
    flagged = np.zeros(len(asked.wrong), dtype=np.bool_)
    for kind in Kind:
        own, there = known.of(known.of_kind(kind)), asked.of_kind(kind)
        sets = marginal(own.told, own.wrong, 1 - alpha).sets(asked.told[:, there])
        if detector.aggregation is Aggregation.MAJORITY:
            flagged[there] = majority(sets)[:, 1]
        else:
            flagged[there] = permuted(sets, orders(len(sets), asked.places[there]))[:, 1]
    return flagged


def by_kind(detector: Detector, known: Decisions, asked: Decisions, alpha: float) -> Flags:
    """The product's: the aggregate is calibrated as a whole on branching points, of which it promises 1 - alpha."""
    levels, there = _levels(detector, known), _levels(detector, asked)
    flagged = np.zeros(len(asked.wrong), dtype=np.bool_)
    for kind in Kind:
        most = at_most(levels[known.of_kind(kind) & known.wrong], 1 - alpha)
        flagged |= asked.of_kind(kind) & (there <= most)
    return flagged


def _levels(detector: Detector, asked: Decisions) -> Floats:
    return detector.aggregated(asked.told, asked.places)


WAYS = {"marginal": by_sets, "calibrated": by_kind}


def by_folds(way: Way, detector: Detector, known: Decided, asked: Decisions, alpha: float) -> Flags:
    """What is flagged of `asked`, about the questions of `known`: calibrated on other databases than each one's."""
    folds = np.array([fold_of(name, "calibration:") for name in known.databases])
    flagged = np.zeros(len(asked.wrong), dtype=np.bool_)
    for fold in range(FOLDS):
        held = folds == fold
        own = held[asked.questions]
        calibrating = known.forced.of(~held[known.forced.questions])
        flagged[own] = way(detector, calibrating, asked.of(own), alpha)
    return flagged
