"""A low-rank correction of the encoder for phrases: x' = normalise(x + U Vᵀ x), trained in numpy on triplets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

RANK = 8
STEPS = 300
RATE = 0.01
MARGIN = 0.1
"""Margin of the preferred element's cosine over the rejected one's."""

SHRINK = 1e-3
"""Weight decay."""

STAY = 0.5
"""Weight of 1 - cosine of a phrase before and after, since other phrases are corrected with it."""

_FLOAT = np.dtype("<f4")


@dataclass(frozen=True, slots=True, eq=False)
class PhraseAdapter:
    """`up` and `down`, both of shape (d, rank)."""

    up: Vectors
    down: Vectors

    def applied(self, phrases: Vectors) -> Vectors:
        """Unit vectors, shape (n, d)."""
        turned = phrases + phrases @ self.down @ self.up.T
        return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True), dtype=np.float32)

    def encoded(self) -> bytes:
        """The weights as little-endian float32, `up` first."""
        return self.up.astype(_FLOAT).tobytes() + self.down.astype(_FLOAT).tobytes()


def decode_adapter(weights: bytes, dimension: int) -> PhraseAdapter | None:
    """The inverse of `encoded`; None where the vectors had another dimension or a weight is not finite."""
    values = np.frombuffer(weights, dtype=_FLOAT) if len(weights) % _FLOAT.itemsize == 0 else np.zeros(0)
    if not values.size or values.size % (2 * dimension) or not np.isfinite(values).all():
        return None
    up, down = values.reshape(2, dimension, -1).astype(np.float32)
    return PhraseAdapter(up, down)


def train_adapter(phrases: Vectors, preferred: Vectors, rejected: Vectors) -> PhraseAdapter:
    """An adapter for triplets, each argument of shape (n, d) with unit rows; the same for the same triplets."""
    rng = np.random.default_rng(0)
    dimension = phrases.shape[1]
    up = np.zeros((dimension, RANK))
    down = rng.normal(scale=dimension**-0.5, size=(dimension, RANK))
    away = (preferred - rejected).astype(np.float64)
    own = phrases.astype(np.float64)
    steps = (_Adam(up), _Adam(down))
    for _ in range(STEPS):
        for weights, gradient in zip(steps, _gradients(up, down, own, away), strict=True):
            weights.step(gradient)
    return PhraseAdapter(up.astype(np.float32), down.astype(np.float32))


class _Adam:
    """Kingma and Ba's steps for one matrix, which they change in place."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self._weights = weights
        self._first = np.zeros_like(weights)
        self._second = np.zeros_like(weights)
        self._steps = 0

    def step(self, gradient: NDArray[np.float64]) -> None:
        """One step against `gradient`."""
        self._steps += 1
        self._first += 0.1 * (gradient - self._first)
        self._second += 0.001 * (gradient**2 - self._second)
        length = np.sqrt(self._second / (1 - 0.999**self._steps)) + 1e-8
        self._weights -= RATE * self._first / (1 - 0.9**self._steps) / length


def _gradients(
    up: NDArray[np.float64], down: NDArray[np.float64], own: NDArray[np.float64], away: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of mean(max(0, margin - x'·(a - b))) + stay · mean(1 - x'·x) + shrink · (|U|² + |V|²) / 2."""
    inner = own @ down
    turned = own + inner @ up.T
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    unit = turned / length
    short = (unit * away).sum(axis=1, keepdims=True) < MARGIN
    target = np.where(short, away, 0.0) + STAY * own
    # The derivative of a unit vector leaves out what points along it.
    toward = (target - (unit * target).sum(axis=1, keepdims=True) * unit) / length / len(own)
    return SHRINK * up - toward.T @ inner, SHRINK * down - own.T @ (toward @ up)


def correctly_ordered(phrases: Vectors, preferred: Vectors, rejected: Vectors) -> NDArray[np.bool_]:
    """For each triplet whether the preferred element is the nearer one, shape (n,)."""
    return np.asarray((phrases * (preferred - rejected)).sum(axis=1) > 0.0)
