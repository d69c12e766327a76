"""Means over questions, with intervals that take the databases asked about, and not the questions, for the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 2000
"""Of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, or a mean difference, with its 95 % interval; databases are resampled."""

    value: float
    low: float
    high: float


def estimate(values: ArrayLike, owners: Sequence[str]) -> Estimate:
    """The mean of at least one value, (n,), with an interval that resamples their owners; the same in every run."""
    known = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    numbers = [known[owner] for owner in owners]
    totals, sizes = np.bincount(numbers, weights=values), np.bincount(numbers)
    chosen = np.random.default_rng(0).integers(len(sizes), size=(RESAMPLES, len(sizes)))
    resampled = totals[chosen].sum(1) / sizes[chosen].sum(1)
    low, high = np.quantile(resampled, (0.025, 0.975)).tolist()
    return Estimate(float(totals.sum() / sizes.sum()), low, high)
