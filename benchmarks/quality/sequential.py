"""Whether a comparison is settled: a test that may be looked at after every question.

A gain is what a question won, from -1 to 1. Bets are laid against "the mean gain is at most a bound": the capital is
`prod(1 + bet * (gain - bound))`, the mean over many bets. Where that is so, it does not grow in expectation, so that
the chance that it is ever 1 / ALPHA times what it was is at most ALPHA, however often one looks and whenever one
stops (Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*, 2024). Questions are taken
for independent: those on one database are not quite.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

ALPHA = 0.05
"""The chance of a wrong verdict, at most."""

MARGIN = 0.05
"""A smaller difference, as a share of questions, is none."""

BETS = np.arange(1, 40) / 40
"""Parts of the capital that are bet; each is a bettor of its own."""


class Verdict(StrEnum):
    """What is settled of a comparison."""

    GAINS = "gains"
    LOSES = "loses"
    SAME = "within 5 points"
    OPEN = "not settled"


def verdict(gains: ArrayLike) -> Verdict:
    """Of gains of -1 to 1, (n,)."""
    values = np.asarray(gains, dtype=float)
    # Where nothing differs, either of the first two may err; a difference is too far above or below, never both.
    if evidence(values, 0.0) >= 2 / ALPHA:
        return Verdict.GAINS
    if evidence(-values, 0.0) >= 2 / ALPHA:
        return Verdict.LOSES
    if min(evidence(values, -MARGIN), evidence(-values, -MARGIN)) >= 1 / ALPHA:
        return Verdict.SAME
    return Verdict.OPEN


def evidence(gains: NDArray[np.float64], bound: float) -> float:
    """The capital after these gains, of 1, against a mean of at most `bound`."""
    bets = BETS[:, None] / (1 + bound)
    return float(np.prod(1 + bets * (gains - bound), axis=1).mean())
