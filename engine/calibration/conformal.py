"""Split conformal prediction for sets of candidates (Odin §6.1 and 6.2), without I/O.

A nonconformity score says how badly a candidate fits its question: lower is better. A calibration point is a
question of which a right candidate is known; its score is the lowest among its right candidates, because the set is
right as soon as it holds one of them. The threshold is the ⌈(n + 1)(1 - alpha)⌉-th smallest of n such scores.

The promise, and no more: P(a right candidate is in the set | a right candidate was generated) ≥ 1 - alpha, over the
drawing of the calibration points and of the question, where both come exchangeably from one distribution. Nothing
is promised of a single question, nor of questions of which no right candidate was generated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

UNSCORED = math.inf
"""The score of a candidate that its function cannot judge: it stays only where nothing is left out."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Candidates with a score of at most `value` form the set.

    `points`: how many scores it comes from. `group`: whose own, None where it is everybody's. `coverage`: the
    promised 1 - alpha.
    """

    value: float
    points: int
    coverage: float
    group: str | None = None

    def admits(self, score: float) -> bool:
        """Whether a candidate is in the set. A tie with the threshold is: that is the side of the promise."""
        return score <= self.value


@dataclass(frozen=True, slots=True)
class Uncalibrated:
    """There are `points` scores, and a threshold for `coverage` takes `needed`."""

    points: int
    needed: int
    coverage: float


def exact(coverage: float) -> Fraction:
    """1 - alpha as it was written: 0.9 is nine tenths, not the binary number next to it. Raises `ValueError`."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage is between 0 and 1, not {coverage}")
    return Fraction(repr(float(coverage)))


def rank_of(points: int, coverage: float) -> int:
    """⌈(n + 1)(1 - alpha)⌉, the rank of the score that is the threshold; above n there is none."""
    return math.ceil((points + 1) * exact(coverage))


def needed(coverage: float) -> int:
    """The fewest points that give a threshold: 4 for 0.8, 9 for 0.9, 19 for 0.95, 99 for 0.99."""
    share = exact(coverage)
    return math.ceil(share / (1 - share))


def quantile(scores: Scores, coverage: float) -> float | None:
    """The threshold of `scores`, shape (n,); None where n is too small. Raises `ValueError` where one is NaN."""
    if np.isnan(scores).any():
        raise ValueError("a nonconformity score is not a number")
    rank = rank_of(scores.size, coverage)
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= scores.size else None


def conforming(scores: Sequence[float], threshold: Threshold | Uncalibrated) -> tuple[bool, ...]:
    """Which candidates are in the set; all of them where there is no threshold."""
    if isinstance(threshold, Uncalibrated):
        return (True,) * len(scores)
    return tuple(threshold.admits(score) for score in scores)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Scores of right candidates, whole and by group (Mondrian).

    A group that has enough points of its own gets the larger of its own threshold and everybody's; any other
    group gets everybody's. So the promise holds over all questions, and within each group that is large enough
    as well. With a group's own threshold alone, where it is lower, it would not hold over all: the groups that fall
    back would miss more often than alpha and nobody would make up for it.
    """

    scores: Scores = field(default_factory=lambda: np.empty(0))
    groups: Mapping[str, Scores] = field(default_factory=dict)

    @staticmethod
    def of(pairs: Iterable[tuple[str, float]]) -> Calibrated:
        """From (group, score) of calibration points; raises `ValueError` where a score is NaN."""
        lists: dict[str, list[float]] = {}
        for group, score in pairs:
            if math.isnan(score):
                raise ValueError("a nonconformity score is not a number")
            lists.setdefault(group, []).append(score)
        groups = {group: np.array(values, dtype=np.float64) for group, values in lists.items()}
        whole = np.concatenate([*groups.values()]) if groups else np.empty(0)
        return Calibrated(whole, groups)

    def at(self, coverage: float, group: str) -> Threshold | Uncalibrated:
        """The threshold for a question of `group`; raises `ValueError` where `coverage` is not between 0 and 1."""
        everybodys = quantile(self.scores, coverage)
        if everybodys is None:
            return Uncalibrated(self.scores.size, needed(coverage), coverage)
        own = self.groups.get(group, np.empty(0))
        value = quantile(own, coverage)
        if value is not None and value > everybodys:
            return Threshold(value, own.size, coverage, group)
        return Threshold(everybodys, self.scores.size, coverage)
