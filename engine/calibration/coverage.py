"""Observed coverage on held-out questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.calibration.conformal import Calibrated, Threshold, conforming
from engine.calibration.proportion import Share
from engine.calibration.records import Point
from engine.calibration.splits import HeldOutSet


@dataclass(frozen=True, slots=True)
class Observed:
    """Selection over the test questions.

    `kept`: questions whose set holds a right candidate, of those with one: the observed coverage, against `promised`.
    `right`: questions that show a right candidate, of all. `possible`: questions with a right candidate, of all.
    `shown`, `generated`: candidates, summed. `empty`: sets without a conforming candidate, of which the best ranked is
    shown. `calibrated`: questions that had a threshold.
    """

    promised: float
    kept: Share
    right: Share
    possible: Share
    shown: int
    generated: int
    empty: int
    calibrated: int


def observe(test: HeldOutSet, calibrated: Calibrated, function: str, coverage: float) -> Observed:
    """Selects every test question's set at `coverage`; raises `ValueError` where that is not between 0 and 1."""
    return observe_elsewhere(test.points, calibrated, function, coverage)


def observe_elsewhere(
    points: Sequence[Point], calibrated: Calibrated, function: str, coverage: float
) -> Observed:
    """The same of questions on other databases than those of `calibrated`, whatever their split; raises alike."""
    points = [point for point in points if point.scored_by(function)]
    kept = right = shown = empty = with_threshold = 0
    for point in points:
        threshold = calibrated.at(coverage, point.group)
        conform = conforming([each.score(function) for each in point.candidates], threshold)
        members = [each for each, fits in zip(point.candidates, conform, strict=True) if fits]
        visible = members or point.candidates[:1]
        with_threshold += isinstance(threshold, Threshold)
        kept += any(each.right for each in members)
        right += any(each.right for each in visible)
        shown += len(visible)
        empty += bool(visible) and not members
    possible = sum(point.answerable for point in points)
    return Observed(
        promised=coverage,
        kept=Share(kept, possible),
        right=Share(right, len(points)),
        possible=Share(possible, len(points)),
        shown=shown,
        generated=sum(len(point.candidates) for point in points),
        empty=empty,
        calibrated=with_threshold,
    )
