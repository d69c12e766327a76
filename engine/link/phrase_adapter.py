"""A low-rank correction of the encoder for phrases: x' = normalise(x + U Vᵀ x), trained on triplets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

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


def correctly_ordered(phrases: Vectors, preferred: Vectors, rejected: Vectors) -> NDArray[np.bool_]:
    """For each triplet whether the preferred element is the nearer one, shape (n,)."""
    return np.asarray((phrases * (preferred - rejected)).sum(axis=1) > 0.0)
