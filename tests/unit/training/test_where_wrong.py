"""What is counted as found: one of the two least sure elements that another candidate does not share is wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.harness.intervals import Figure
from engine.judge.doubtful_elements import Element, Kind, weighed
from training.where_wrong import First, figures

A, B, C = (Element(Kind.NAME, "where", each) for each in "abc")


def first(database: str, wrong: set[Element], other: set[Element], *, right: bool = False) -> First:
    doubts = weighed([Counter((A, B)), Counter(other)], [0.7, 0.3])
    return First(database, right, 0.5, 1.0, doubts, frozenset(wrong))


def test_a_wrong_element_is_found_only_where_another_candidate_speaks_against_it() -> None:
    found = figures(
        [
            first("one", {A}, {B, C}),
            first("two", {B}, {B, C}),
            first("three", {A}, {A, B}),
            first("four", set(), {A, B}, right=True),
        ]
    )
    assert (found["statements"], found["wrong"]) == (4, 3)
    values = {key: each.value for key, each in found.items() if isinstance(each, Figure)}
    assert values["found"] == pytest.approx(1 / 3)
    assert values["found_where_candidates_differ"] == pytest.approx(1 / 2)
    assert values["found_by_chance"] == 1
    assert values["marked_of_wrong"] == pytest.approx(2 / 3)
    assert values["marked_of_right"] == 0
