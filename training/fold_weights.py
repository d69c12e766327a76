"""Weights of a database's addends, chosen on folds and judged on the fold that was left out.

A conditional logit over the databases that an outcome keeps: each addend of the logit gets a multiplier, 1 leaving it
as it is, and all multipliers together hold the temperature too. Fitted by Newton's method with a weak pull towards 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.routing.folds import Outcome, Placed

Numbers = NDArray[np.float64]

PULL = 1.0
"""Of the squared distance of a multiplier from 1, in units of one question's log-likelihood."""

_ITERATIONS = 25


@dataclass(frozen=True, slots=True)
class _Rows:
    """n outcomes of at most k databases. `parts`: (n, k, P), 0 where there is none; `mask`: (n, k); `right`: (n,)."""

    parts: Numbers
    mask: NDArray[np.bool_]
    right: NDArray[np.intp]

    @staticmethod
    def of(outcomes: Sequence[Outcome]) -> _Rows:
        width = max(len(each.first) for each in outcomes)
        count = len(outcomes[0].first[0].parts)
        parts, mask = np.zeros((len(outcomes), width, count)), np.zeros((len(outcomes), width), dtype=bool)
        right = np.zeros(len(outcomes), dtype=np.intp)
        for row, each in enumerate(outcomes):
            parts[row, : len(each.first)] = [one.parts for one in each.first]
            mask[row, : len(each.first)] = True
            right[row] = next(n for n, one in enumerate(each.first) if one.database == each.database)
        return _Rows(parts, mask, right)

    def shares(self, multipliers: Numbers) -> Numbers:
        """(n, k), softmax over each outcome's databases."""
        logits = np.where(self.mask, self.parts @ multipliers, -np.inf)
        raised = np.exp(logits - logits.max(1, keepdims=True))
        found: Numbers = raised / raised.sum(1, keepdims=True)
        return found


def fitted(outcomes: Sequence[Outcome], *, positive: bool = False) -> Numbers:
    """The multipliers of greatest likelihood, (P,); at least one outcome, each with its right database kept.

    `positive`: an addend that would count against what it says is left out, with a multiplier of 0.
    """
    rows = _Rows.of(outcomes)
    free = np.ones(rows.parts.shape[2], dtype=bool)
    multipliers = _fitted(rows, free)
    while positive and (against := free & (multipliers < 0)).any():
        free &= ~against
        multipliers = _fitted(rows, free)
    return multipliers


def _fitted(rows: _Rows, free: NDArray[np.bool_]) -> Numbers:
    """Those of the addends that are not `free` stay 0."""
    multipliers = free.astype(np.float64)
    right = rows.parts[np.arange(len(rows.right)), rows.right]
    for _ in range(_ITERATIONS):
        shares = rows.shares(multipliers)
        mean = np.einsum("nk,nkp->np", shares, rows.parts)
        gradient = (right - mean).sum(0) - PULL * (multipliers - 1)
        square = np.einsum("nk,nkp,nkq->pq", shares, rows.parts, rows.parts) - mean.T @ mean
        curve = (square + PULL * np.eye(len(multipliers)))[np.ix_(free, free)]
        step = np.linalg.solve(curve, gradient[free])
        multipliers[free] += step
        if np.abs(step).max() < 1e-6:  # noqa: PLR2004  converged
            break
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
