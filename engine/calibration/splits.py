"""The tuning, calibration and test splits of labelled questions, by a hash of the question's id; observed coverage.

A type each keeps them apart: thresholds come from a `CalibrationSet` and are measured on a `HeldOutSet`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from engine.calibration.conformal import Calibrated, Threshold, conforming
from engine.calibration.proportion import Share
from engine.calibration.records import Point

_TUNING, _CALIBRATION = 20, 70
"""Of 100 questions 20 may tune, the next 50 calibrate, and the last 30 test."""


class Split(StrEnum):
    """A question's split."""

    TUNING = "tuning"
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
    place = int.from_bytes(digest[:8], "big") % 100
    if place < _TUNING:
        return Split.TUNING
    return Split.CALIBRATION if place < _CALIBRATION else Split.TEST


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
class TuningSet(_Set):
    """The split for fitting settings."""

    split = Split.TUNING


@dataclass(frozen=True, slots=True)
class CalibrationSet(_Set):
    """The split for thresholds."""

    split = Split.CALIBRATION

    def calibrated(self, function: str) -> Calibrated:
        """The score by `function` of each question with a right candidate."""
        scored = ((point.group, point.right_score(function)) for point in self.points)
        return Calibrated.of((group, score) for group, score in scored if score is not None)


@dataclass(frozen=True, slots=True)
class HeldOutSet(_Set):
    """The split for observed coverage."""

    split = Split.TEST


def divide(points: Iterable[Point], salt: str = "") -> tuple[TuningSet, CalibrationSet, HeldOutSet]:
    """The points by their splits."""
    by: dict[Split, list[Point]] = {split: [] for split in Split}
    for point in points:
        by[split_of(point.question, salt)].append(point)
    return (
        TuningSet(tuple(by[Split.TUNING]), salt),
        CalibrationSet(tuple(by[Split.CALIBRATION]), salt),
        HeldOutSet(tuple(by[Split.TEST]), salt),
    )


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
