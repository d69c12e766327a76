"""The score of a candidate, and what a statement passes over, by hand."""

from __future__ import annotations

import math

import pytest

from engine.values.candidate import Candidate
from engine.values.conformal import UNSCORED, nonconformity, shortfall
from engine.values.elements import Entity

TABLE = ("public", "singer")
NAME, AGE = (*TABLE, "name"), (*TABLE, "age")
WHOLE = (*TABLE, "*")
ENTITIES = (
    Entity("stage name", {NAME: 0.7, AGE: 0.1, WHOLE: 0.3}),
    Entity("singers", {NAME: 0.4, AGE: 0.2, WHOLE: 0.9}),
)


def candidate(*columns: tuple[str, str, str]) -> Candidate:
    return Candidate("music", "SELECT", tables=frozenset({TABLE}), columns=frozenset(columns))


def test_only_what_was_passed_over_counts_and_what_is_less_than_sure() -> None:
    assert shortfall(candidate(NAME), ENTITIES) == 0.0
    assert shortfall(candidate(AGE), ENTITIES) == pytest.approx(0.4)
    value = Entity("france", {NAME: 0.1, AGE: 0.05, WHOLE: 0.1})
    assert shortfall(candidate(NAME), (*ENTITIES, value)) == 0.0, "near to nothing, so nothing is missed"
    assert shortfall(candidate(NAME), ()) == 0.0
    assert shortfall(Candidate("music", "SELECT 1"), ENTITIES) == UNSCORED
    assert nonconformity(Candidate("music", "SELECT", confidence=0.8)) == pytest.approx(0.2)
    assert not math.isnan(nonconformity(Candidate("music", "SELECT")))
