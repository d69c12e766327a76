"""Ranks, thresholds, splits and shares, by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.judge.records import Judged, Point
from engine.judge.splits import (
    CalibrationSet,
    HeldOutSet,
    Split,
    SplitError,
    divide,
    id_hash,
    observe,
    split_of,
)
from engine.values.conformal import Calibrated, Share, Threshold, Uncalibrated, needed, quantile, rank_of


@pytest.mark.parametrize(
    ("points", "coverage", "rank"),
    [
        (19, 0.95, 19),
        (18, 0.95, 19),
        (99, 0.99, 99),
        (9, 0.9, 9),
        (10, 0.9, 10),
        (100, 0.9, 91),
        # In binary 100 times 0.55 is above 55, and 56 would be one too many.
        (99, 0.55, 55),
        (0, 0.5, 1),
    ],
)
def test_rank(points: int, coverage: float, rank: int) -> None:
    assert rank_of(points, coverage) == rank


@given(st.integers(1, 999))
def test_needed_is_the_fewest(thousandths: int) -> None:
    coverage = thousandths / 1000
    fewest = needed(coverage)
    assert rank_of(fewest, coverage) <= fewest
    assert fewest == 1 or rank_of(fewest - 1, coverage) > fewest - 1


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_coverage_is_between_0_and_1(coverage: float) -> None:
    with pytest.raises(ValueError, match="coverage"):
        Calibrated().at(coverage, "db")


def test_quantile_of_ties_and_infinities() -> None:
    assert quantile(np.array([1.0, 1.0, 1.0, 2.0]), 0.5) == 1.0
    assert quantile(np.array([-math.inf, 0.0, 0.0, 0.0]), 0.8) == 0.0
    assert quantile(np.array([0.0, 0.0, 0.0, math.inf]), 0.8) == math.inf
    assert quantile(np.array([0.0, 0.0, 0.0]), 0.8) is None
    with pytest.raises(ValueError, match="not a number"):
        quantile(np.array([0.0, math.nan]), 0.5)
    with pytest.raises(ValueError, match="not a number"):
        Calibrated.of([("db", math.nan)])


def test_a_group_falls_back_and_never_narrows() -> None:
    easy = [("easy", score / 100) for score in range(19)]
    hard = [("hard", 1 + score / 100) for score in range(19)]
    few = [("few", 9.0)]
    calibrated = Calibrated.of(easy + hard + few)
    everybodys = calibrated.at(0.95, "unheard of")
    assert isinstance(everybodys, Threshold)
    assert (everybodys.points, everybodys.group) == (39, None)
    assert calibrated.at(0.95, "few") == calibrated.at(0.95, "easy") == everybodys
    own = calibrated.at(0.8, "hard")
    assert isinstance(own, Threshold)
    assert (own.value, own.points, own.group) == (1.15, 19, "hard")
    assert Calibrated.of(few).at(0.95, "few") == Uncalibrated(1, 19, 0.95)


def beside(known: Sequence[float] = (), own: int = 0) -> Calibrated:
    """40 scores of other databases, of which the threshold for .95 is 0.38, beside what is here."""
    here = Calibrated.of([("db", 9.0)] * own)
    return replace(here, base=np.arange(40) / 100, known=np.array(known, dtype=np.float64))


def test_until_there_is_enough_others_scores_count_unless_what_is_known_speaks_against_them() -> None:
    assert beside().at(0.95, "db") == Threshold(0.38, 40, 0.95, base=True)
    assert beside(own=18).at(0.95, "db") == Threshold(0.38, 40, 0.95, base=True)
    assert beside(own=19).at(0.95, "db") == Threshold(9.0, 19, 0.95)
    assert beside().at(0.99, "db") == Uncalibrated(0, 99, 0.99), "too few even there"
    assert beside([0.1] * 17 + [0.9] * 3).at(0.95, "db") == Threshold(0.38, 40, 0.95, base=True), (
        "may be chance"
    )
    assert beside([0.1] * 15 + [0.9] * 5).at(0.95, "db") == Uncalibrated(0, 19, 0.95, Share(15, 20))
    assert beside([0.9]).at(0.95, "db") == Threshold(0.38, 40, 0.95, base=True), "one proves nothing"
    assert beside([0.9] * 2).at(0.95, "db") == Uncalibrated(0, 19, 0.95, Share(0, 2))
    assert beside([0.1] * 15 + [0.9] * 5).at(0.8, "db") == Threshold(0.32, 40, 0.8, base=True)


# -- splits


def points(count: int) -> list[Point]:
    judged = (Judged(True, 1.0),)  # noqa: FBT003 - right
    return [Point(id_hash(str(number)), "db", judged) for number in range(count)]


def test_splits_are_disjoint_and_whole() -> None:
    made = points(600)
    sets = divide(made)
    assert [type(each) for each in sets] == [CalibrationSet, HeldOutSet]
    ids = [{point.question for point in each.points} for each in sets]
    assert ids[0] | ids[1] == {point.question for point in made}
    assert sum(map(len, ids)) == len(made)
    shares = [len(each) / len(made) for each in ids]
    assert shares == pytest.approx([0.7, 0.3], abs=0.06)
    assert ids[0] != {point.question for point in divide(made, "1")[0].points}


def test_a_question_of_another_split_is_refused() -> None:
    made = points(50)
    held_out = [point for point in made if split_of(point.question) is Split.TEST]
    assert HeldOutSet(tuple(held_out)).points
    with pytest.raises(SplitError, match="is for test, not for calibration"):
        CalibrationSet(tuple(held_out))


# -- what was observed


def judged(*candidates: tuple[bool, float]) -> tuple[Judged, ...]:
    return tuple(Judged(right, score) for right, score in candidates)


def test_the_best_right_candidate_counts() -> None:
    point = Point("q", "db", judged((True, 3.0), (False, 0.0), (True, 1.0)))
    assert point.right_score == 1.0
    assert Point("q", "db", judged((False, 0.0))).right_score is None
    assert not Point("q", "db", ()).answerable


def test_observed_both_ways() -> None:
    ids = [point.question for point in points(60) if split_of(point.question) is Split.TEST][:5]
    sets = (
        judged((True, 0.1), (False, 0.9)),  # kept, one left out
        judged((False, 0.1), (True, 0.9)),  # the right one is left out
        judged((True, 0.9), (False, 0.8)),  # nothing conforms: the best ranked is shown, and right
        judged((False, 0.2)),  # none was generated
        (),  # nothing was
    )
    held_out = HeldOutSet(tuple(Point(q, "db", each) for q, each in zip(ids, sets, strict=True)))
    calibrated = Calibrated.of([("db", 0.5)] * 19)
    found = observe(held_out, calibrated, 0.95)
    assert (found.kept, found.right, found.possible) == (Share(1, 3), Share(2, 5), Share(3, 5))
    assert (found.shown, found.generated, found.calibrated) == (4, 7, 5)
    assert observe(held_out, Calibrated(), 0.95).shown == 7


def test_shares() -> None:
    assert Share(0, 0).value is None
    assert Share(0, 0).interval() == (0.0, 1.0)
    low, high = Share(95, 100).interval()
    assert (low, high) == pytest.approx((0.888, 0.978), abs=0.001)
    assert Share(5, 5).interval()[1] == 1.0


@pytest.mark.parametrize(("hits", "n", "tail"), [(0, 0, 1.0), (0, 1, 0.05), (1, 2, 0.0975), (2, 2, 1.0)])
def test_the_tail_of_a_share_by_hand(hits: int, n: int, tail: float) -> None:
    assert Share(hits, n).tail(0.95) == pytest.approx(tail)
