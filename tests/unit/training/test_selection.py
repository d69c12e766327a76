"""Selection's scores on lists: thresholds from other databases, pairs, and what comes with the program."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from engine.calibration.conformal import Calibrated, Threshold
from engine.calibration.proportion import Share
from training.certainty import fold_of
from training.certainty_lists import Kind
from training.ranker_lists import QuestionList, Written
from training.selection import BEST, base_of, measured, pointed, preferred

DATABASES = [f"db{number}" for number in range(10)]
"""Several in each fold."""


def listed(number: int, *statements: tuple[bool, float | None]) -> QuestionList:
    """A question `q<number>`; its statements' verdicts and scores, and one that is not shown."""
    shown = [
        Written(str(place), (0.0, 0.0, 0.0), right, scores={BEST: score})
        for place, (right, score) in enumerate(statements)
    ]
    return QuestionList(f"q{number}", 3, (*shown, Written("none", (0.0, 0.0, 0.0))))


def homes(questions: int) -> Mapping[str, str]:
    return {f"q{number}": DATABASES[number % len(DATABASES)] for number in range(questions)}


def test_a_question_is_a_point_of_what_it_shows_best_first() -> None:
    (point,) = pointed([listed(0, (False, 0.4), (True, 0.1)), QuestionList("q1", 3, ())], homes(2))
    assert [(each.right, each.score(BEST)) for each in point.candidates] == [(True, 0.1), (False, 0.4)]
    assert point.group == "db0"


def test_one_made_ambiguous_is_of_the_database_that_its_views_are_of() -> None:
    made = QuestionList("made-T-7", 3, listed(0, (True, 0.1)).candidates)
    assert pointed([made], {"spider-train-7": "singers"})[0].group == "singers"


def test_a_threshold_comes_from_other_folds() -> None:
    """In one fold right statements score 0.9: its own threshold would keep them, the others' does not."""
    odd = fold_of(DATABASES[0])
    known = homes(200)
    lists = [
        listed(number, (True, 0.9 if fold_of(known[f"q{number}"]) == odd else 0.1), (False, 0.5))
        for number in range(200)
    ]
    found = measured({Kind.PLAIN: pointed(lists, known)}, Kind.PLAIN, BEST, 0.8)
    assert found is not None
    there = sum(fold_of(home) == odd for home in known.values())
    assert found.kept == Share(200 - there, 200)
    assert (found.worst, found.found) == (0.0, 2.0)


def test_too_few_points_promise_nothing() -> None:
    alone = {Kind.PLAIN: pointed([listed(0, (True, 0.1))], homes(1))}
    assert measured(alone, Kind.PLAIN, BEST, 0.95) is None


def test_the_kind_that_is_harder_decides() -> None:
    easy = pointed([listed(number, (True, 0.1), (False, 0.5)) for number in range(200)], homes(200))
    hard = pointed([listed(number, (True, 0.6), (False, 0.5)) for number in range(200)], homes(200))
    alone = measured({Kind.PLAIN: easy}, Kind.PLAIN, BEST, 0.8)
    beside = measured({Kind.PLAIN: easy, Kind.AMBIGUOUS: hard}, Kind.PLAIN, BEST, 0.8)
    assert alone is not None
    assert beside is not None
    assert (alone.shown, beside.shown) == (1.0, 2.0)


def test_pairs_of_a_question() -> None:
    points = pointed([listed(0, (True, 0.1), (False, 0.4), (False, 0.05)), listed(1, (True, None))], homes(2))
    assert preferred(points, BEST) == Share(1, 2)


def test_what_comes_with_the_program_has_the_lowest_right_scores() -> None:
    lists = [listed(number, (True, 0.3), (True, 0.2), (False, 0.1)) for number in range(20)]
    made = base_of({3: {Kind.PLAIN: pointed(lists, homes(20))}}, "a command")
    assert made.scores[BEST][3]["plain"] == (0.2,) * 20
    assert made.made == "a command"
    threshold = made.beside(Calibrated(), (), BEST, 3).at(0.95, "any")
    assert isinstance(threshold, Threshold)
    assert (threshold.value, threshold.points) == (pytest.approx(0.2), 20)
