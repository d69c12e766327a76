"""How well branching points are told from other decisions (RTS §4.2): what probes are chosen by, and measured by."""

from __future__ import annotations

import numpy as np

from engine.schema_linking.prediction_sets import Flags, Floats


def extra_abstention_rate(flagged: Flags, branching: Flags) -> float:
    """Decisions that are flagged and no branching points, of all decisions (EAR)."""
    return float((flagged & ~branching).mean())


def auc(scores: Floats, branching: Flags) -> float:
    """P(a branching point's score is higher than another decision's), ties counted half; NaN where one is lacking."""
    positive = int(branching.sum())
    negative = len(branching) - positive
    if not positive or not negative:
        return float("nan")
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[branching].sum() - positive * (positive + 1) / 2) / (positive * negative))
