"""Split conformal prediction sets over a decision's two labels: 0 it is right, 1 it is a branching point (RTS §3.2).

The nonconformity score of a label is 1 - p(label | decision). Where each layer's set holds the true label with
probability 1 - alpha, a label that more than the share theta of them hold is the true one with probability
1 - alpha / (1 - theta) (theorem 1), along a permutation 1 - 2 alpha (theorem 3). The engine calibrates the aggregate
as a whole instead (`engine.schema_linking.branching`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.schema_linking.branching import HALF, check_odd
from engine.schema_linking.probes import Flags, Floats, at_most

LABELS = 2


def nonconformity(chances: Floats) -> Floats:
    """Of P(branching point), (...), the scores of labels 0 and 1, (..., 2)."""
    return np.stack([chances, 1.0 - chances], axis=-1)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """`values`: of each layer and label, (layers, 2); infinite where the calibration decisions are too few."""

    values: Floats

    def sets(self, chances: Floats) -> Flags:
        """Which labels are in the sets, (layers, m, 2); `chances`: P(branching point), (layers, m)."""
        return np.asarray(nonconformity(chances) <= self.values[:, None, :])


def marginal(chances: Floats, branching: Flags, coverage: float) -> Thresholds:
    """One threshold a layer, from all decisions.

    `chances`: P(branching point), (layers, n); `branching`: which of them are, (n,). Raises `ValueError` where
    `coverage`, 1 - alpha, is not between 0 and 1.
    """
    scores = np.where(branching, 1.0 - chances, chances)
    return Thresholds(np.repeat([[at_most(layer, coverage)] for layer in scores], LABELS, axis=1))


def majority(sets: Flags, theta: float = HALF) -> Flags:
    """The labels that more than `theta` of the sets hold: of (layers, m, 2) the (m, 2)."""
    return np.asarray(sets.sum(axis=0) > theta * len(sets))


def permuted(sets: Flags, permutations: NDArray[np.int64]) -> Flags:
    """Algorithm 1: labels that half of the first i sets hold, for every i. Raises `ValueError` for even layers."""
    check_odd(len(sets))
    counted = np.cumsum(np.take_along_axis(sets, permutations[:, :, None], axis=0), axis=0)
    places = np.arange(1, len(sets) + 1)[:, None, None]
    return np.asarray((2 * counted >= places).all(axis=0))
