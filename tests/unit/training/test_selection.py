"""Selection's scores on lists: thresholds from other databases, and what comes with the program."""

from __future__ import annotations

import pytest

from benchmarks.harness.drawing import fold_of
from engine.judge.records import Point
from engine.values.conformal import Calibrated, Threshold
from engine.values.proportion import Share
from training.judgement import Held
from training.lists import QuestionList, Written
from training.selection import base_of, measured, pointed

DATABASES = [f"db{number}" for number in range(10)]
"""Several in each fold."""

Given = tuple[QuestionList, Held]


def listed(number: int, *statements: tuple[bool, float]) -> Given:
    """A question `q<number>`; its statements' verdicts and scores, and one that is not shown."""
    made = [Written(str(place), right) for place, (right, _) in enumerate(statements)]
    database = DATABASES[number % len(DATABASES)]
    held = Held((*(1.0 - score for _, score in statements), 0.0))
    return QuestionList(f"q{number}", len(statements), (*made, Written("none")), database=database), held


def points(*given: Given) -> list[Point]:
    lists, held = zip(*given, strict=True)
    return pointed(lists, held, max(len(each.confidences) - 1 for each in held))


def test_a_question_is_a_point_of_what_it_shows_best_first() -> None:
    (point,) = points(listed(0, (False, 0.4), (True, 0.1)), (QuestionList("q1", 3, ()), Held(())))
    assert [each.right for each in point.candidates] == [True, False]
    assert [each.score for each in point.candidates] == pytest.approx([0.1, 0.4])
    assert point.group == "db0"


def test_a_threshold_comes_from_other_folds() -> None:
    """In one fold right statements score 0.9: its own threshold would keep them, the others' does not."""
    odd = fold_of(DATABASES[0])
    homes = [DATABASES[number % len(DATABASES)] for number in range(200)]
    lists = [
        listed(number, (True, 0.9 if fold_of(home) == odd else 0.1), (False, 0.5))
        for number, home in enumerate(homes)
    ]
    found = measured(points(*lists), 0.8)
    assert found is not None
    there = sum(fold_of(home) == odd for home in homes)
    assert found.kept == Share(200 - there, 200)
    assert found.found == 2.0


def test_too_few_points_promise_nothing() -> None:
    assert measured(points(listed(0, (True, 0.1))), 0.95) is None


def test_what_comes_with_the_program_has_the_lowest_right_scores() -> None:
    lists = [listed(number, (True, 0.3), (True, 0.2), (False, 0.1)) for number in range(20)]
    made = base_of({3: points(*lists)}, "a command")
    assert made.scores[3] == pytest.approx((0.2,) * 20)
    assert made.made == "a command"
    threshold = made.beside(Calibrated(), (), 3).at(0.95, "any")
    assert isinstance(threshold, Threshold)
    assert threshold.value == pytest.approx(0.2)
    assert threshold.points == 20
