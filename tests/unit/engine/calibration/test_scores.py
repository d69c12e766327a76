"""Scores of candidates, by hand."""

from __future__ import annotations

import math

import pytest

from engine.calibration.conformal import UNSCORED
from engine.calibration.scores import (
    combined_score,
    confidence_score,
    encoder_score,
    model_score,
    shortfall_score,
)
from engine.core.candidate import Candidate
from engine.core.elements import Entity

TABLE = ("public", "singer")
NAME, AGE = (*TABLE, "name"), (*TABLE, "age")
WHOLE = (*TABLE, "*")
ENTITIES = (
    Entity("stage name", {NAME: 0.7, AGE: 0.1, WHOLE: 0.3}),
    Entity("singers", {NAME: 0.4, AGE: 0.2, WHOLE: 0.9}),
)


def candidate(*columns: tuple[str, str, str]) -> Candidate:
    return Candidate("music", "SELECT", tables=frozenset({TABLE}), columns=frozenset(columns))


def test_the_worst_represented_entity_decides() -> None:
    assert encoder_score(candidate(NAME), ENTITIES) == -0.7
    assert encoder_score(candidate(AGE), ENTITIES) == -0.3
    assert encoder_score(candidate(), ENTITIES) == -0.3
    assert encoder_score(candidate(NAME), ()) == -1.0
    assert encoder_score(Candidate("music", "SELECT 1"), ENTITIES) == UNSCORED


def test_only_what_was_passed_over_counts() -> None:
    assert shortfall_score(candidate(NAME), ENTITIES) == 0.0
    assert shortfall_score(candidate(AGE), ENTITIES) == pytest.approx(0.4)
    value = Entity("france", {NAME: 0.1, AGE: 0.05, WHOLE: 0.1})
    assert shortfall_score(candidate(NAME), (*ENTITIES, value)) == 0.0, (
        "near to nothing, so nothing is missed"
    )
    assert encoder_score(candidate(NAME), (*ENTITIES, value)) == -0.1
    assert shortfall_score(candidate(NAME), ()) == 0.0
    assert shortfall_score(Candidate("music", "SELECT 1"), ENTITIES) == UNSCORED


def test_an_unlinked_element_is_no_better_than_none() -> None:
    assert encoder_score(candidate(), (Entity("x", {}),)) == 1.0


def test_a_candidate_of_which_the_model_says_nothing_has_no_score() -> None:
    assert model_score(-0.1, -2.3) == pytest.approx(-2.2)
    assert model_score(None, None) == UNSCORED
    assert combined_score((0.5, 0.5, UNSCORED)) == UNSCORED


def test_the_combined_score_is_between_0_and_1_and_grows_with_each() -> None:
    assert combined_score((0.0, 0.0, -1e6)) == pytest.approx(0.0)
    assert combined_score((1.0, 1.0, 1e6)) == pytest.approx(1.0)
    middle = combined_score((0.5, 0.5, 0.0))
    assert middle == pytest.approx(0.5)
    assert all(combined_score(each) > middle for each in ((0.6, 0.5, 0.0), (0.5, 0.6, 0.0), (0.5, 0.5, 0.1)))


def test_confidence() -> None:
    assert confidence_score(Candidate("music", "SELECT", confidence=0.8)) == pytest.approx(0.2)
    assert not math.isnan(confidence_score(Candidate("music", "SELECT")))
