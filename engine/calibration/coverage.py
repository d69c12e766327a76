"""Observed coverage on held-out questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.calibration.conformal import Calibrated, Threshold, conforming
from engine.calibration.splits import HeldOutSet

_Z = 1.959964
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `n`."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share, in [0, 1]; None where n is 0."""
        return self.hits / self.n if self.n else None

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; (0, 1) where n is 0."""
        if not self.n:
            return (0.0, 1.0)
        share, z2 = self.hits / self.n, _Z**2
        middle = (share + z2 / (2 * self.n)) / (1 + z2 / self.n)
        half = _Z / (1 + z2 / self.n) * math.sqrt(share * (1 - share) / self.n + z2 / (4 * self.n**2))
        return (max(0.0, middle - half), min(1.0, middle + half))


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
    points = [point for point in test.points if point.scored_by(function)]
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
