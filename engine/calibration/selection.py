"""How an answer was selected: kept with it, so that a choice from it can become a calibration point."""

from __future__ import annotations

from dataclasses import dataclass

from engine.calibration.conformal import Threshold, Uncalibrated
from engine.calibration.records import Score


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's database and scores."""

    database: str
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """How an answer's candidates were selected.

    `function`: with its version. `group`: the likeliest database. `width`: candidates looked for. `whole`: no candidate
    was left out, for want of a threshold or by audit; only then is a choice a calibration point. `candidates`: the
    first `width`, best ranked first. `conforming`: candidates in the set, of all; with 0 the best ranked is shown.
    """

    function: str
    group: str
    width: int
    threshold: Threshold | Uncalibrated
    whole: bool
    candidates: tuple[Scored, ...]
    conforming: int
