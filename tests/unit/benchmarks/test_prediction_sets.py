"""Thresholds of labels, and what too few decisions leave of them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.linking.prediction_sets import marginal, nonconformity

CHANCES = np.array([[0.05, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9]])
BRANCHING = np.array([False, False, False, True, False, True, True, True])


def test_a_label_s_score_is_what_its_chance_lacks() -> None:
    assert nonconformity(np.array([0.25])).tolist() == [[0.25, 0.75]]


def test_marginal_thresholds_are_one_of_all_decisions() -> None:
    """Scores .05 .1 .1 .2 .2 .3 .6 .7: the seventh of eight at 3/4."""
    found = marginal(CHANCES, BRANCHING, 0.75)
    assert found.values == pytest.approx(np.array([[0.6, 0.6]]))
    assert found.sets(np.array([[0.3, 0.5, 0.9]]))[0].tolist() == [[True, False], [True, True], [False, True]]


def test_too_few_decisions_leave_every_label_in() -> None:
    found = marginal(CHANCES, BRANCHING, 0.95)
    assert np.isinf(found.values).all()
    assert found.sets(CHANCES).all()
