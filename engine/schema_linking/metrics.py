"""How well branching points are found, and what abstaining on them is worth (RTS §4.2).

The paper's formulas of TAR and FAR have = and ≠ exchanged; these follow its words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.schema_linking.prediction_sets import Flags, Floats


@dataclass(frozen=True, slots=True)
class Abstention:
    """Linking of `n` questions with abstention, as shares in [0, 1].

    `tar`: it abstains and would have been wrong (true abstention). `far`: it abstains and would have been right.
    `exact_match`: right, of those it does not abstain on; NaN where there are none.
    """

    n: int
    exact_match: float
    tar: float
    far: float


def abstention(abstains: Flags, right: Flags) -> Abstention:
    """Of questions, (n,) each."""
    with np.errstate(invalid="ignore"):
        kept = np.divide((right & ~abstains).sum(), (~abstains).sum())
    return Abstention(
        len(right), float(kept), float((abstains & ~right).mean()), float((abstains & right).mean())
    )


def coverage(flagged: Flags, branching: Flags) -> float:
    """The share of branching points that are flagged; NaN where there are none."""
    return float(flagged[branching].mean()) if branching.any() else float("nan")


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
