"""Figures with 95 % intervals: the databases asked about, and not the questions, are taken for the sample.

Questions on one database are right and wrong together, so that a bootstrap draws databases with all of theirs. The
draws are the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval."""

    value: float
    low: float
    high: float


def ratio(over: ArrayLike, under: ArrayLike, owners: Sequence[str]) -> Figure | None:
    """The sum of `over` by that of `under`, (n,), with an interval that resamples their owners; None by nothing."""
    known = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    numbers = [known[owner] for owner in owners]
    above, below = (np.bincount(numbers, weights=np.asarray(each, dtype=float)) for each in (over, under))
    if not below.sum():
        return None
    drawn = np.random.default_rng(0).integers(len(known), size=(RESAMPLES, len(known)))
    sums = below[drawn].sum(1)
    found = above[drawn].sum(1)[sums != 0] / sums[sums != 0]
    return _figure(float(above.sum() / below.sum()), found)


def mean(values: ArrayLike, owners: Sequence[str]) -> Figure:
    """The mean of at least one value, (n,)."""
    found = ratio(values, np.ones(len(owners)), owners)
    if found is None:
        raise ValueError("there is no mean of nothing")
    return found


def median(values: Sequence[float]) -> Figure | None:
    """The median, with an interval that resamples the values; None of none."""
    if not values:
        return None
    drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    return _figure(float(np.median(values)), np.median(np.asarray(values)[drawn], axis=1))


def _figure(value: float, drawn: NDArray[np.float64]) -> Figure:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return Figure(value, low, high)


def auc(scores: NDArray[np.floating], positive: ArrayLike) -> float:
    """P(a positive's score is higher than another's), ties counted half; NaN where one of the two is lacking.

    `scores`, `positive`: (n,); what is not 0 or false is positive.
    """
    above = np.asarray(positive, dtype=np.bool_)
    positives = int(above.sum())
    others = len(above) - positives
    if not positives or not others:
        return float("nan")
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[above].sum() - positives * (positives + 1) / 2) / (positives * others))
