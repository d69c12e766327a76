"""The test that stops a comparison: what it calls settled, and how often it errs when looked at all the time."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.sequential import ALPHA, MARGIN, Verdict, evidence, verdict


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ([], Verdict.OPEN),
        ([1] * 4, Verdict.OPEN),
        ([1] * 9, Verdict.GAINS),
        ([-1] * 9, Verdict.LOSES),
        ([1, -1] * 9, Verdict.OPEN),
        ([0] * 60, Verdict.OPEN),
        ([0] * 120, Verdict.SAME),
    ],
)
def test_few_questions_settle_nothing_and_many_do(gains: list[int], expected: Verdict) -> None:
    assert verdict(gains) is expected


def test_looked_at_after_every_question_it_errs_no_more_often_than_promised() -> None:
    drawn = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=(300, 200))
    wrong = sum(
        any(verdict(gains[:n]) in {Verdict.GAINS, Verdict.LOSES} for n in range(5, 201, 5)) for gains in drawn
    )
    assert wrong / len(drawn) <= ALPHA + 0.02


def test_a_difference_at_the_margin_is_seldom_called_none() -> None:
    shares = (0.05, 0.9 - MARGIN, 0.05 + MARGIN)
    drawn = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], p=shares, size=(300, 200))
    wrong = sum(any(verdict(gains[:n]) is Verdict.SAME for n in range(5, 201, 5)) for gains in drawn)
    assert wrong / len(drawn) <= ALPHA + 0.02


def test_a_clear_gain_is_found_early() -> None:
    drawn = np.random.default_rng(2).choice([0.0, 1.0], p=[0.85, 0.15], size=(200, 100))
    found = sum(any(verdict(gains[:n]) is Verdict.GAINS for n in range(10, 101, 10)) for gains in drawn)
    assert found / len(drawn) > 0.9


def test_no_bet_can_lose_more_than_it_has() -> None:
    assert evidence(np.full(50, -1.0), 0.0) > 0
    assert evidence(np.full(50, -1.0), -MARGIN) > 0
