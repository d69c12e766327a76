"""The area under the ROC curve, against the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.quality.roc import auc


def test_auc_counts_pairs_and_half_of_ties() -> None:
    random = np.random.default_rng(1)
    scores, positive = random.integers(0, 6, 80).astype(np.float64), random.random(80) < 0.3
    above = scores[positive][:, None] - scores[~positive][None, :]
    assert auc(scores, positive) == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
    assert auc(scores, positive.astype(np.float64)) == auc(scores, positive)


def test_auc_counts_ties_as_half() -> None:
    assert auc(np.array([1.0, 2.0, 1.0, 0.0]), [True, True, False, False]) == 0.875


@pytest.mark.parametrize("every", [False, True])
def test_nothing_is_told_apart_where_one_kind_is_lacking(every: bool) -> None:  # noqa: FBT001 - a parameter
    assert math.isnan(auc(np.arange(80.0), np.full(80, every)))
