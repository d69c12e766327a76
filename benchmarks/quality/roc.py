"""The area under the ROC curve: how well a score tells one kind from another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def auc(scores: NDArray[np.floating], positive: ArrayLike) -> float:
    """P(a positive's score is higher than another's), ties counted half; NaN where one of the two is lacking.

    `scores`, `positive`: (n,); what is not 0 or false is positive.
    """
    above = np.asarray(positive, dtype=np.bool_)
    positives = int(above.sum())
    others = len(above) - positives
    if not positives or not others:
        return float("nan")
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[above].sum() - positives * (positives + 1) / 2) / (positives * others))
