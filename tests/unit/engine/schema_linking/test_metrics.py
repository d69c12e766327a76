"""Abstention's figures as the paper's words have them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.schema_linking.metrics import abstention, auc, coverage, extra_abstention_rate


def test_true_abstentions_are_those_that_would_have_been_wrong() -> None:
    abstains = np.array([True, True, True, False, False])
    right = np.array([False, False, True, True, False])
    found = abstention(abstains, right)
    assert (found.n, found.exact_match, found.tar, found.far) == (5, 0.5, 0.4, 0.2)


def test_who_abstains_always_has_no_exact_match() -> None:
    found = abstention(np.ones(2, dtype=np.bool_), np.array([True, False]))
    assert math.isnan(found.exact_match)
    assert (found.tar, found.far) == (0.5, 0.5)


def test_coverage_is_of_branching_points_and_what_is_extra_of_all() -> None:
    flagged = np.array([True, False, True, False])
    branching = np.array([True, True, False, False])
    assert coverage(flagged, branching) == 0.5
    assert extra_abstention_rate(flagged, branching) == 0.25
    assert math.isnan(coverage(flagged, np.zeros(4, dtype=np.bool_)))


def test_auc_counts_pairs_and_half_of_ties() -> None:
    random = np.random.default_rng(1)
    scores, branching = random.integers(0, 6, 80).astype(np.float64), random.random(80) < 0.3
    above = scores[branching][:, None] - scores[~branching][None, :]
    assert auc(scores, branching) == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
    assert math.isnan(auc(scores, np.zeros(80, dtype=np.bool_)))
