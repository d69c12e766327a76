"""What branching points are told from other decisions by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.quality.linking.metrics import auc, extra_abstention_rate


def test_extra_abstentions_are_of_all_decisions() -> None:
    flagged = np.array([True, False, True, False])
    branching = np.array([True, True, False, False])
    assert extra_abstention_rate(flagged, branching) == 0.25


def test_auc_counts_pairs_and_half_of_ties() -> None:
    random = np.random.default_rng(1)
    scores, branching = random.integers(0, 6, 80).astype(np.float64), random.random(80) < 0.3
    above = scores[branching][:, None] - scores[~branching][None, :]
    assert auc(scores, branching) == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
    assert math.isnan(auc(scores, np.zeros(80, dtype=np.bool_)))
