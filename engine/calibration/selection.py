"""What one answer was selected by: kept with the answer, so that a choice from it can become a calibration point."""

from __future__ import annotations

from dataclasses import dataclass

from engine.calibration.conformal import Threshold, Uncalibrated
from engine.calibration.records import Score


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate of an answer: where it belongs and how it was scored."""

    database: str
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """How an answer's candidates were selected.

    `function`: with its version. `group`: of the question, known without its answer. `width`: candidates looked
    for. `threshold`: what there was to select by. `whole`: all was shown, because there was no threshold or it was
    set aside; only then can a choice calibrate, because whoever sees a part can choose only from it. `candidates`: the
    first `width`, best ranked first. `conforming`: how many of all were in the set; where none was, the
    best ranked one is shown all the same.
    """

    function: str
    group: str
    width: int
    threshold: Threshold | Uncalibrated
    whole: bool
    candidates: tuple[Scored, ...]
    conforming: int
