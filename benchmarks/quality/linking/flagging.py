"""The ways to flag decisions that are compared, each calibrated on one set of decisions and used on another.

Tables and columns are calibrated apart, as the paper has a linker for each, but for the promise of whole questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.quality.linking.decided import Decided, Decisions, without
from engine.schema_linking.branching import Aggregation, Detector, Kind, majority, orders, permuted
from engine.schema_linking.probes import (
    Flags,
    Floats,
    Thresholds,
    at_most,
    label_conditional,
    marginal,
    question_scores,
)

FOLDS = 5

Flag = Callable[[Detector, Decisions, Decisions, float], Flags]
"""(detector, calibration decisions, decisions, alpha) → which of the decisions are flagged, (m,)."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to flag by its name; `words`: what it promises of branching points."""

    name: str
    words: str
    flag: Flag


def _by_sets(
    calibrate: Callable[[Floats, Flags, float], Thresholds],
    detector: Detector,
    known: Decisions,
    asked: Decisions,
    alpha: float,
) -> Flags:
    """RTS's: each layer's sets at 1 - alpha, put together."""
    flagged = np.zeros(len(asked.wrong), dtype=np.bool_)
    for kind in Kind:
        own, there = known.of(known.of_kind(kind)), asked.of_kind(kind)
        sets = calibrate(own.chances, own.wrong, 1 - alpha).sets(asked.chances[:, there])
        if detector.aggregation is Aggregation.MAJORITY:
            flagged[there] = majority(sets)[:, 1]
        else:
            flagged[there] = permuted(sets, orders(len(sets), asked.places[there]))[:, 1]
    return flagged


def _by_kind(detector: Detector, known: Decisions, asked: Decisions, alpha: float) -> Flags:
    """The product's: the aggregate is calibrated as a whole on branching points."""
    levels, there = _levels(detector, known), _levels(detector, asked)
    flagged = np.zeros(len(asked.wrong), dtype=np.bool_)
    for kind in Kind:
        most = at_most(levels[known.of_kind(kind) & known.wrong], 1 - alpha)
        flagged |= asked.of_kind(kind) & (there <= most)
    return flagged


def _by_question(detector: Detector, known: Decisions, asked: Decisions, alpha: float) -> Flags:
    levels = _levels(detector, known)
    most = at_most(question_scores(levels[known.wrong], known.questions[known.wrong]), 1 - alpha)
    return np.asarray(_levels(detector, asked) <= most)


def _levels(detector: Detector, asked: Decisions) -> Floats:
    return detector.aggregated(asked.chances, asked.places)


WAYS = (
    Way("marginal", "nothing: 1 - 2 alpha over all decisions (the paper's)", partial(_by_sets, marginal)),
    Way("label-conditional", "1 - 2 alpha (theorems 1 and 3)", partial(_by_sets, label_conditional)),
    Way("calibrated", "1 - alpha (the product's)", _by_kind),
    Way("question", "1 - alpha of all of a question's", _by_question),
)
"""Those compared; the third is the product's default."""


def flags_by_folds(way: Way, detector: Detector, known: Decided, asked: Decisions, alpha: float) -> Flags:
    """What is flagged of `asked`, about the questions of `known`: calibrated on other databases than each one's."""
    folds = np.array([_fold(name) for name in known.databases])
    flagged = np.zeros(len(asked.wrong), dtype=np.bool_)
    for fold in range(FOLDS):
        held = folds == fold
        own = held[asked.questions]
        flagged[own] = way.flag(detector, without(known.forced, held), asked.of(own), alpha)
    return flagged


def _fold(database: str) -> int:
    return int(hashlib.sha256(f"calibration:{database}".encode()).hexdigest(), 16) % FOLDS
