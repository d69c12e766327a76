"""What selection would do, of known answers: thresholds from one part of them, judged on another."""

from __future__ import annotations

from benchmarks.harness.journal import Answer, Cost, Proposal
from benchmarks.harness.outcomes import Outcome
from benchmarks.harness.scorer import Right
from benchmarks.quality.candidates.coverage import covered, points, selected
from engine.judge.splits import id_hash


def outcome(key: str, scores: list[float], *right: Right) -> Outcome:
    made = tuple(Proposal("x", None, 1.0 - score) for score in scores)
    return Outcome(Answer(key, made, Cost(1.0)), "music", right)


def test_coverage_is_measured_by_the_engines_own_calibration() -> None:
    some = [outcome(f"q{n}", [(n * 37 % 500) / 500, 2.0], (True, True), (False, False)) for n in range(500)]
    found = list(covered(some, seed=1))
    assert [each.promised for each in found] == [0.99, 0.95, 0.9, 0.8]
    for each in found:
        assert each.divisions == 20
        assert abs(each.gap) < 0.02
        assert each.shown == each.right == 1.0
        assert each.lowest <= each.kept


def test_too_few_points_give_no_coverage() -> None:
    some = [outcome(f"q{n}", [0.5], (True, True)) for n in range(3)]
    assert not list(covered(some, seed=1))
    assert selected(some, seed=1) is None


def test_a_question_of_two_readings_means_one_of_them() -> None:
    some = [outcome(f"q{n}", [0.0, 1.0], (True, False), (False, True)) for n in range(200)]
    made = points(some)
    assert 60 < sum(point.candidates[0].right for point in made) < 140
    assert all(point.candidates[0].right != point.candidates[1].right for point in made)
    assert made[0].question == id_hash("q0")
    assert [each.score for each in made[0].candidates] == [0.0, 1.0]
    kept = selected(some, seed=1)
    assert kept is not None
    assert (kept.both5_before, kept.set_size) == (1.0, 2.0)
