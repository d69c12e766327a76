"""One prediction set of several layers' sets: by majority, and by majorities along a random permutation (RTS §3.2.3).

Where each layer's set holds the true label with probability 1 - alpha, a label that more than the share theta of them
hold is the true one with probability 1 - alpha / (1 - theta) (theorem 1), along a permutation 1 - 2 alpha (theorem 3),
however the layers depend on each other. To promise 1 - alpha itself, the aggregate is calibrated as a whole: a label's
level is the least coverage of the layers' sets at which the aggregate holds it, and is a nonconformity score.

An odd number of layers has no ties: the last of the permutation's majorities is then the majority at theta = 1/2, as
theorem 3 has it.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from engine.schema_linking.prediction_sets import Flags, Floats

HALF = 0.5
SEED = 1


class Aggregation(StrEnum):
    """How the layers' sets become one."""

    MAJORITY = "majority"
    PERMUTATION = "permutation"


def orders(layers: int, places: NDArray[np.int64], seed: int = SEED) -> NDArray[np.int64]:
    """A random permutation of the layers for each decision, (layers, m), by its place among its question's, (m,).

    The same for the same arguments, and for a place whichever others there are.
    """
    drawn = np.random.default_rng(seed).random((int(places.max(initial=-1)) + 1, layers))
    return np.argsort(drawn, axis=1).T[:, places]


def majority(sets: Flags, theta: float = HALF) -> Flags:
    """The labels that more than `theta` of the sets hold: of (layers, m, 2) the (m, 2)."""
    return np.asarray(sets.sum(axis=0) > theta * len(sets))


def permuted(sets: Flags, permutations: NDArray[np.int64]) -> Flags:
    """Algorithm 1: the labels that half of the first i sets hold, for every i; shapes as in `majority` and `orders`.

    Raises `ValueError` where the number of layers is even.
    """
    _check_odd(len(sets))
    counted = np.cumsum(np.take_along_axis(sets, permutations[:, :, None], axis=0), axis=0)
    places = np.arange(1, len(sets) + 1)[:, None, None]
    return np.asarray((2 * counted >= places).all(axis=0))


def levels(scores: Floats, reference: Floats) -> Floats:
    """The coverage at which each layer's set takes in a label with these nonconformity scores in [0, 1], (layers, m).

    `reference`: sorted scores of the label where it was true, (layers, r), from other data than calibrates the
    aggregate. Linear between them, so that no two different scores are tied.
    """
    shares = np.arange(reference.shape[1] + 2) / (reference.shape[1] + 1)
    return np.stack(
        [
            np.interp(own, np.concatenate([[0.0], known, [1.0]]), shares)
            for own, known in zip(scores, reference, strict=True)
        ]
    )


def majority_level(of_layers: Floats, theta: float = HALF) -> Floats:
    """The least coverage at which `majority` holds the label, (m,), of the layers' levels, (layers, m)."""
    return np.asarray(np.sort(of_layers, axis=0)[int(theta * len(of_layers))])


def permuted_level(of_layers: Floats, permutations: NDArray[np.int64]) -> Floats:
    """The least coverage at which `permuted` holds the label; shapes and errors as `majority_level`, `permuted`."""
    _check_odd(len(of_layers))
    along = np.take_along_axis(of_layers, permutations, axis=0)
    # Half of the first i hold it from the ⌈i / 2⌉-th smallest level on.
    halves = [np.sort(along[: i + 1], axis=0)[i // 2] for i in range(len(along))]
    return np.asarray(np.max(halves, axis=0))


def level_of(aggregation: Aggregation, of_layers: Floats, places: NDArray[np.int64]) -> Floats:
    """The least coverage at which `aggregation` holds the label, (m,); `places` as in `orders`."""
    if aggregation is Aggregation.MAJORITY:
        return majority_level(of_layers)
    return permuted_level(of_layers, orders(len(of_layers), places))


def _check_odd(layers: int) -> None:
    if layers % 2 == 0:
        raise ValueError(f"an odd number of layers has a majority, {layers} may be tied")
