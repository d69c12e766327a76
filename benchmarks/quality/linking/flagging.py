"""Which decisions are flagged as branching points: those decided by little, tables and columns apart.

The threshold is a quantile over wrong decisions, so that it promises something of these (label-conditional split
conformal, RTS §3.2); over all decisions, few of which are wrong, it would promise nothing of them.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness.drawing import FOLDS, fold_of
from benchmarks.quality.linking.decided import Decided, Decisions, Flags
from engine.calibration.conformal import quantile
from engine.schema_linking.linker import Kind


def thresholds(known: Decisions, alpha: float) -> dict[Kind, float]:
    """The margins within which 1 - alpha of the wrong decisions are; infinite where too few are known to be wrong."""
    found = {kind: quantile(known.margins[known.of_kind(kind) & known.wrong], 1 - alpha) for kind in Kind}
    return {kind: np.inf if value is None else value for kind, value in found.items()}


def flagged(known: Decisions, asked: Decisions, alpha: float) -> Flags:
    """Which of `asked`, (m,): calibrated on `known`."""
    most = thresholds(known, alpha)
    return asked.margins <= np.where(asked.tables, most[Kind.TABLE], most[Kind.COLUMN])


def by_folds(known: Decided, asked: Decisions, alpha: float) -> Flags:
    """Which of `asked`, about the questions of `known`: calibrated on other databases than each one's."""
    folds = np.array([fold_of(name, "calibration:") for name in known.databases])
    found = np.zeros(len(asked.wrong), dtype=np.bool_)
    for fold in range(FOLDS):
        held = folds == fold
        calibrating = known.forced.of(~held[known.forced.questions])
        own = held[asked.questions]
        found[own] = flagged(calibrating, asked.of(own), alpha)
    return found
