"""What selection would do, at several promises: thresholds from one part of the answers, judged on another.

The engine's own calibration makes them (`engine.calibration`), over many independent divisions of the questions. No
answer is asked for again: an answer keeps all its candidates with their scores, and selection only leaves some out.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.harness.outcomes import Outcome
from benchmarks.harness.scorer import both, meant
from engine.judge import packaged_scores as base
from engine.judge.records import Judged, Point
from engine.judge.splits import Observed, divide, id_hash, observe, observe_elsewhere
from engine.values.conformal import Calibrated, Threshold, conforming

DIVISIONS = 20
PROMISES = (0.99, 0.95, 0.9, 0.8)
SELECTED_AT = 0.95


@dataclass(frozen=True, slots=True)
class Covered:
    """A promise and what was seen of it, over the `divisions` that had a threshold for it or by what ships (0).

    `kept`: share of the questions with a right candidate whose set keeps one; `lowest`: of the divisions. `right`: of
    all questions. `shown`: statements a question, of `found`.
    """

    promised: float
    divisions: int
    kept: float
    lowest: float
    right: float
    shown: float
    found: float

    @property
    def gap(self) -> float:
        """What was kept less the promise."""
        return self.kept - self.promised


@dataclass(frozen=True, slots=True)
class Selected:
    """BothInTop5 of the `n` test questions of all divisions before and after selection, and the mean set after it."""

    n: int
    both5_before: float
    both5: float
    set_size: float


def points(outcomes: Sequence[Outcome]) -> tuple[Point, ...]:
    """Answers as judged questions. Of two readings a question means one, drawn by the hash of its id."""
    return tuple(
        Point(
            id_hash(each.id),
            each.owner,
            tuple(
                Judged(right[meant(each.id)], 1.0 - (proposal.confidence or 0.0))
                for proposal, right in zip(each.answer.proposals, each.right, strict=True)
            ),
        )
        for each in outcomes
    )


def covered(outcomes: Sequence[Outcome], seed: int) -> Iterator[Covered]:
    """Observed coverage at each promise that the points are enough for."""
    judged = points(outcomes)
    for promised in PROMISES:
        seen = []
        for salt in _salts(seed):
            calibration, test = divide(judged, salt)
            calibrated = calibration.calibrated()
            if isinstance(calibrated.at(promised, ""), Threshold):
                seen.append(observe(test, calibrated, promised))
        if seen := [each for each in seen if each.kept.n]:
            yield _covered(promised, len(seen), seen)


def by_base(outcomes: Sequence[Outcome], k: int) -> Iterator[Covered]:
    """Each promise as the calibration that comes with the program keeps it; none where that has nothing for `k`."""
    judged = points(outcomes)
    calibrated = base.read().beside(Calibrated(), (), k)
    for promised in PROMISES:
        seen = observe_elsewhere(judged, calibrated, promised)
        if seen.calibrated and seen.kept.n:
            yield _covered(promised, 0, [seen])


def _covered(promised: float, divisions: int, seen: Sequence[Observed]) -> Covered:
    kept = [each.kept.hits / each.kept.n for each in seen]
    tests = sum(each.right.n for each in seen)
    return Covered(
        promised,
        divisions,
        statistics.fmean(kept),
        min(kept),
        sum(each.right.hits for each in seen) / tests,
        sum(each.shown for each in seen) / tests,
        sum(each.generated for each in seen) / tests,
    )


def selected(outcomes: Sequence[Outcome], seed: int) -> Selected | None:
    """What selection costs on questions of two readings; None where there are too few for a threshold."""
    judged = points(outcomes)
    readings = {id_hash(each.id): each.right for each in outcomes}
    found: list[tuple[bool, bool, int]] = []
    for salt in _salts(seed):
        calibration, test = divide(judged, salt)
        calibrated = calibration.calibrated()
        for point in test.points:
            threshold = calibrated.at(SELECTED_AT, point.group)
            if isinstance(threshold, Threshold):
                fits = conforming([each.score for each in point.candidates], threshold)
                verdicts = readings[point.question]
                kept = [one for one, fit in zip(verdicts, fits, strict=True) if fit] or list(verdicts[:1])
                found.append((both(verdicts), both(kept), len(kept)))
    if not found:
        return None
    return Selected(len(found), *(sum(each) / len(found) for each in zip(*found, strict=True)))


def _salts(seed: int) -> list[str]:
    return [f"{seed}:{number}" for number in range(DIVISIONS)]
