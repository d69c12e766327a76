"""Weights of a database's addends, chosen on folds and judged on the fold that was left out.

Each addend of the logit gets a multiplier, 1 leaving it as it is, and all multipliers together hold the temperature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.quality.routing.folds import Outcome, Placed
from training import logit
from training.logit import Choice, Numbers

PULL = 1.0
"""Of the squared distance of a multiplier from 1, in units of one question's log-likelihood."""


def fitted(outcomes: Sequence[Outcome], *, positive: bool = False) -> Numbers:
    """The multipliers of greatest likelihood, (P,), among the databases that each outcome keeps.

    `positive`: an addend that would count against what it says is left out, with a multiplier of 0.
    """
    choices = [
        Choice(
            np.array([one.parts for one in each.first]),
            np.array([one.database == each.database for one in each.first]),
        )
        for each in outcomes
    ]
    free = np.ones(len(outcomes[0].first[0].parts), dtype=bool)
    multipliers = logit.fitted(choices, 1.0, PULL)
    while positive and (against := free & (multipliers < 0)).any():
        free &= ~against
        multipliers = logit.fitted(choices, free, PULL, free)
    return multipliers


def reweighted(outcome: Outcome, multipliers: Numbers) -> Outcome:
    """The outcome as it would be with these multipliers, among the databases that it keeps."""
    placed = [Placed(one.database, float(np.dot(one.parts, multipliers)), one.parts) for one in outcome.first]
    placed.sort(key=lambda one: -one.logit)
    rank = next(n for n, one in enumerate(placed, start=1) if one.database == outcome.database)
    return replace(outcome, rank=rank, first=tuple(placed))


def cross_fitted(folds: Mapping[int, Sequence[Outcome]], *, positive: bool = False) -> list[Outcome]:
    """The outcomes of every fold with the multipliers that the other folds give; at least two folds."""
    found: list[Outcome] = []
    for fold, outcomes in folds.items():
        others = [one for other, some in folds.items() if other != fold for one in some]
        multipliers = fitted(others, positive=positive)
        found += [reweighted(one, multipliers) for one in outcomes]
    return found
