"""A low-rank correction of the encoder for phrases: x' = normalise(x + U Vᵀ x), trained on triplets."""

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
    """An adapter for triplets, each argument of shape (n, d) with unit rows; the same for the same triplets.

    Least are mean(max(0, margin - x'·(a - b))) + stay · mean(1 - x'·x) + shrink · (|U|² + |V|²) / 2.
    """
    import torch  # noqa: PLC0415  heavy: loaded with the first training

    rng = np.random.default_rng(0)
    dimension = phrases.shape[1]
    up = torch.zeros((dimension, RANK), dtype=torch.float64, requires_grad=True)
    first = rng.normal(scale=dimension**-0.5, size=(dimension, RANK))
    down = torch.from_numpy(first).requires_grad_()
    own, away = (torch.from_numpy(each.astype(np.float64)) for each in (phrases, preferred - rejected))
    steps = torch.optim.Adam([up, down], lr=RATE)
    for _ in range(STEPS):
        turned = torch.nn.functional.normalize(own + own @ down @ up.T, dim=1)
        short = (MARGIN - (turned * away).sum(dim=1)).clamp_min(0).mean()
        stay = 1 - (turned * own).sum(dim=1).mean()
        loss = short + STAY * stay + SHRINK * (up.square().sum() + down.square().sum()) / 2
        steps.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch types it not
        steps.step()
    return PhraseAdapter(*(each.detach().numpy().astype(np.float32) for each in (up, down)))


def correctly_ordered(phrases: Vectors, preferred: Vectors, rejected: Vectors) -> NDArray[np.bool_]:
    """For each triplet whether the preferred element is the nearer one, shape (n,)."""
    return np.asarray((phrases * (preferred - rejected)).sum(axis=1) > 0.0)
