"""Several sets become one, and a label's level is the coverage from which that one holds it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.linking.prediction_sets import majority, permuted
from engine.schema_linking.branching import levels, majority_level, orders, permuted_level
from engine.schema_linking.probes import Flags

LAYERS, DECISIONS = 5, 300


def of_label(held: Flags) -> Flags:
    """Sets that hold label 1 where `held`, and label 0 nowhere."""
    return np.stack([np.zeros_like(held), held], axis=-1)


def test_a_majority_is_more_than_the_share() -> None:
    held = np.array([[True, True], [True, False], [False, False]])
    assert majority(of_label(held))[:, 1].tolist() == [True, False]
    assert majority(of_label(held), 0.0)[:, 1].tolist() == [True, True]
    assert majority(of_label(held), 0.7)[:, 1].tolist() == [False, False]


def test_along_a_permutation_half_of_every_beginning_must_hold_it() -> None:
    held = np.array([[False], [True], [True]])
    first_without, first_with = np.array([[0], [1], [2]]), np.array([[1], [0], [2]])
    assert not permuted(of_label(held), first_without)[0, 1]
    assert permuted(of_label(held), first_with)[0, 1]


def test_permutations_are_of_the_decision_s_place_alone() -> None:
    whole = orders(LAYERS, np.arange(9))
    assert np.array_equal(orders(LAYERS, np.array([4, 0, 4])), whole[:, [4, 0, 4]])
    assert not np.array_equal(whole, orders(LAYERS, np.arange(9), seed=2))
    assert np.array_equal(np.sort(whole, axis=0), np.repeat(np.arange(LAYERS)[:, None], 9, axis=1))


@pytest.mark.parametrize("coverage", [0.1, 0.5, 0.9])
def test_from_its_level_on_the_aggregate_holds_a_label(coverage: float) -> None:
    of_layers = np.random.default_rng(1).random((LAYERS, DECISIONS))
    order = orders(LAYERS, np.arange(DECISIONS))
    held = of_label(of_layers <= coverage)
    assert np.array_equal(permuted_level(of_layers, order) <= coverage, permuted(held, order)[:, 1])
    for theta in (0.0, 0.3, 0.5, 0.6):
        assert np.array_equal(majority_level(of_layers, theta) <= coverage, majority(held, theta)[:, 1])


def test_an_even_number_of_layers_is_refused() -> None:
    with pytest.raises(ValueError, match="odd number"):
        permuted(of_label(np.ones((4, 1), dtype=np.bool_)), orders(4, np.arange(1)))
    with pytest.raises(ValueError, match="odd number"):
        permuted_level(np.ones((4, 1)), orders(4, np.arange(1)))


def test_levels_are_shares_of_the_reference_and_never_tied() -> None:
    reference = np.array([[0.2, 0.4, 0.6, 0.8]])
    found = levels(np.array([[0.0, 0.1, 0.4, 0.5, 0.9, 0.95, 1.0]]), reference)[0]
    assert found == pytest.approx([0.0, 0.1, 0.4, 0.5, 0.9, 0.95, 1.0])
    assert (np.diff(found) > 0).all()
