"""Weights of a choice: how probably each of several things is the right one, by the weighted sum of its features.

A conditional logit, fitted by Newton's method with a pull towards weights that are known before. Of one thing that is
true or not it is a logistic regression (`either`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

STEPS, CLOSE = 200, 1e-6
"""Of Newton's at most; a step so small is none."""


@dataclass(frozen=True, slots=True)
class Choice:
    """n things to choose from: `features`, (n, f), and which are right, (n,), one at least."""

    features: Numbers
    right: NDArray[np.bool_]


def either(features: ArrayLike, *, true: bool) -> Choice:
    """Something with these features, (f,), that is true or not."""
    row = np.asarray(features, dtype=np.float64)
    return Choice(np.stack([row, np.zeros_like(row)]), np.array([true, not true]))


def fitted(choices: Sequence[Choice], prior: ArrayLike, pull: ArrayLike, free: ArrayLike = True) -> Numbers:  # noqa: FBT002 - of each weight
    """The likeliest weights, (f,). `pull`: of the squared distance from `prior`; `free`: which may change."""
    width, size = max(len(each.right) for each in choices), choices[0].features.shape[1]
    features = np.zeros((len(choices), width, size))
    right, mask = np.zeros((2, len(choices), width), dtype=bool)
    for row, each in enumerate(choices):
        features[row, : len(each.right)], right[row, : len(each.right)] = each.features, each.right
        mask[row, : len(each.right)] = True
    start, pulls = (np.broadcast_to(np.asarray(each, dtype=np.float64), size) for each in (prior, pull))
    weights, chosen = start, np.broadcast_to(np.asarray(free), size)

    def likely(at: Numbers) -> tuple[Numbers, Numbers, float]:
        """How likely each thing is, and where a right one was chosen; what is to be greatest."""
        logits = np.where(mask, features @ at, -np.inf)
        shares = np.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        wanted = shares * right
        found = np.maximum(wanted.sum(1, keepdims=True), 1e-300)
        return shares, wanted / found, float(np.log(found).sum() - (pulls * (at - start) ** 2).sum() / 2)

    shares, wanted, before = likely(weights)
    for _ in range(STEPS):
        gradient = np.einsum("nk,nkf->f", wanted - shares, features) - pulls * (weights - start)
        means = np.einsum("nk,nkf->nf", shares, features)
        curve = np.einsum("nk,nkf,nkg->fg", shares, features, features) - means.T @ means
        curve += np.diag(pulls + 1e-6)
        step = np.zeros(size)
        step[chosen] = np.linalg.solve(curve[np.ix_(chosen, chosen)], gradient[chosen])
        # Less far until it is better: with several right ones the likelihood has more than one hill.
        while np.abs(step).max() > CLOSE:
            shares, wanted, now = likely(weights + step)
            if now > before:
                break
            step /= 2
        else:
            break
        weights, before = weights + step, now
    return weights
