"""Split conformal prediction sets over a decision's two labels: 0 it is right, 1 it is a branching point (RTS §3.2).

The nonconformity score of a label is 1 - p(label | decision). A layer's set holds the labels whose score is at most a
threshold, the ⌈(n + 1)(1 - alpha)⌉-th smallest score of calibration decisions' true labels. Three promises, each where
calibration and use are exchangeable:

- marginal (RTS §3.2.2), from all decisions: P(the true label is in the set) ≥ 1 - alpha. Branching points are rare, so
  this may hold with not one of them in its set.
- label-conditional (Mondrian), from each label's decisions apart: P(1 is in the set | branching point) ≥ 1 - alpha.
- of a whole question, from the largest score among a question's branching points: P(1 is in the set of each of them |
  the question has one) ≥ 1 - alpha.

Owns no model and no data; several layers' sets are put together in `engine.schema_linking.aggregation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.calibration.conformal import quantile

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LABELS = 2


def nonconformity(chances: Floats) -> Floats:
    """Of P(branching point), (...), the scores of labels 0 and 1, (..., 2)."""
    return np.stack([chances, 1.0 - chances], axis=-1)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """`values`: of each layer and label, (layers, 2); infinite where the calibration decisions are too few."""

    values: Floats

    def sets(self, chances: Floats) -> Flags:
        """Which labels are in the sets, (layers, m, 2); `chances`: P(branching point), (layers, m)."""
        return np.asarray(nonconformity(chances) <= self.values[:, None, :])


def marginal(chances: Floats, branching: Flags, coverage: float) -> Thresholds:
    """One threshold a layer, from all decisions.

    `chances`: P(branching point), (layers, n); `branching`: which of them are, (n,). Raises `ValueError` where
    `coverage`, 1 - alpha, is not between 0 and 1.
    """
    scores = np.where(branching, 1.0 - chances, chances)
    return Thresholds(np.repeat([[at_most(layer, coverage)] for layer in scores], LABELS, axis=1))


def label_conditional(chances: Floats, branching: Flags, coverage: float) -> Thresholds:
    """A threshold a layer and label, from the decisions of that label; arguments and errors as `marginal`."""
    scores = nonconformity(chances)
    kept = [branching == bool(label) for label in range(LABELS)]
    return Thresholds(
        np.array(
            [[at_most(layer[own, label], coverage) for label, own in enumerate(kept)] for layer in scores]
        )
    )


def question_scores(scores: Floats, questions: NDArray[np.int64]) -> Floats:
    """The largest of each question's `scores`, both (n,), of branching points alone; one for each question there."""
    _, places = np.unique(questions, return_inverse=True)
    largest = np.full(int(places.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(largest, places, scores)
    return largest


def at_most(scores: Floats, coverage: float) -> float:
    """The threshold of `scores`, (n,); infinite where n is too small. Raises as `quantile`."""
    value = quantile(scores, coverage)
    return np.inf if value is None else value
