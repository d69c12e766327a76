"""What the logits say of the next token: how likely it is, and which others are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Likely = tuple[tuple[int, float], ...]
"""Tokens and the logarithms of their probabilities, most probable first."""


def log_total(logits: NDArray[np.float32]) -> float:
    """The logarithm of the sum of the exponentials (log-sum-exp)."""
    top = float(logits.max())
    return top + float(np.log(np.exp(logits - top).sum()))


def likeliest(logits: NDArray[np.float32], count: int, total: float) -> Likely:
    """The `count` most probable tokens, of those that are possible; `total`: `log_total` of all logits."""
    possible = np.flatnonzero(np.isfinite(logits))
    if len(possible) > count:
        # Of these alone: a partition of a hundred thousand infinities beside a few numbers takes 20 ms.
        possible = possible[np.argpartition(logits[possible], -count)[len(possible) - count :]]
    ordered = possible[np.argsort(logits[possible])[::-1]]
    return tuple((int(token), float(logits[token]) - total) for token in ordered)
