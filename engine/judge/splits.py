"""The calibration and test splits of labelled questions, by a hash of the question's id; observed coverage.

A type each keeps them apart: thresholds come from a `CalibrationSet` and are measured on a `HeldOutSet`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from engine.judge.records import Point
from engine.values.conformal import Calibrated, Threshold, conforming
from engine.values.proportion import Share

_CALIBRATION = 70
"""Of 100 questions so many calibrate, and the others test."""


class Split(StrEnum):
    """A question's split."""

    CALIBRATION = "calibration"
    TEST = "test"


class SplitError(ValueError):
    """A question was put into a set of another split."""


def id_hash(identity: str) -> str:
    """SHA-256 (hex) of a question's id: all that is kept of it."""
    return hashlib.sha256(identity.encode()).hexdigest()


def split_of(question: str, salt: str = "") -> Split:
    """The split of a question by its `id_hash`; another `salt` gives an independent division."""
    digest = hashlib.sha256(f"{salt}:{question}".encode()).digest()
    return Split.CALIBRATION if int.from_bytes(digest[:8], "big") % 100 < _CALIBRATION else Split.TEST


@dataclass(frozen=True, slots=True)
class _Set:
    """Points of one split; raises `SplitError` where one belongs elsewhere."""

    split: ClassVar[Split]
    points: tuple[Point, ...]
    salt: str = ""

    def __post_init__(self) -> None:
        for point in self.points:
            if (found := split_of(point.question, self.salt)) is not self.split:
                raise SplitError(f"question {point.question[:12]} is for {found}, not for {self.split}")


@dataclass(frozen=True, slots=True)
class CalibrationSet(_Set):
    """The split for thresholds."""

    split = Split.CALIBRATION

    def calibrated(self) -> Calibrated:
        """The score of each question with a right candidate."""
        scored = ((point.group, point.right_score) for point in self.points)
        return Calibrated.of((group, score) for group, score in scored if score is not None)


@dataclass(frozen=True, slots=True)
class HeldOutSet(_Set):
    """The split for observed coverage."""

    split = Split.TEST


def divide(points: Iterable[Point], salt: str = "") -> tuple[CalibrationSet, HeldOutSet]:
    """The points by their splits."""
    by: dict[Split, list[Point]] = {split: [] for split in Split}
    for point in points:
        by[split_of(point.question, salt)].append(point)
    return CalibrationSet(tuple(by[Split.CALIBRATION]), salt), HeldOutSet(tuple(by[Split.TEST]), salt)


@dataclass(frozen=True, slots=True)
class Observed:
    """Selection over the test questions.

    `kept`: the observed coverage, the share of questions with a right candidate that show one. `right`, `possible`: the
    shares of all questions that show, or have, a right candidate. `shown`, `generated`: candidates, summed; if none
    conforms, the best is shown. `calibrated`: questions that had a threshold.
    """

    kept: Share
    right: Share
    possible: Share
    shown: int
    generated: int
    calibrated: int


def observe(test: HeldOutSet, calibrated: Calibrated, coverage: float) -> Observed:
    """Selects every test question's set at `coverage`; raises `ValueError` where that is not between 0 and 1."""
    return observe_elsewhere(test.points, calibrated, coverage)


def observe_elsewhere(points: Sequence[Point], calibrated: Calibrated, coverage: float) -> Observed:
    """The same of questions on other databases than those of `calibrated`, whatever their split; raises alike."""
    kept = right = shown = with_threshold = 0
    for point in points:
        threshold = calibrated.at(coverage, point.group)
        conform = conforming([each.score for each in point.candidates], threshold)
        members = [each for each, fits in zip(point.candidates, conform, strict=True) if fits]
        visible = members or point.candidates[:1]
        with_threshold += isinstance(threshold, Threshold)
        kept += any(each.right for each in members)
        right += any(each.right for each in visible)
        shown += len(visible)
    possible = sum(point.answerable for point in points)
    return Observed(
        kept=Share(kept, possible),
        right=Share(right, len(points)),
        possible=Share(possible, len(points)),
        shown=shown,
        generated=sum(len(point.candidates) for point in points),
        calibrated=with_threshold,
    )
