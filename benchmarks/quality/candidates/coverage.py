"""What selection would do, at several promises: thresholds from one part of the answers, judged on another.

The engine's own calibration makes them (`engine.calibration`), over many independent divisions of the questions. No
answer is asked for again: an answer keeps all its candidates with their scores, and selection only leaves some out.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.quality.candidates.journal import Answer
from engine.calibration import base
from engine.calibration.conformal import Calibrated, Threshold, conforming
from engine.calibration.records import Judged, Point, read_scores
from engine.calibration.splits import HeldOutSet, Observed, divide, id_hash, observe, observe_elsewhere

DIVISIONS = 20
PROMISES = (0.99, 0.95, 0.9, 0.8)
SELECTED_AT = 0.95
TOP = 5


@dataclass(frozen=True, slots=True)
class Source:
    """Whose answers to what."""

    set_name: str
    system: str


Right = tuple[tuple[bool, bool], ...]
"""For each candidate of a question, whether it is right under reading 1 and 2."""


@dataclass(frozen=True, slots=True)
class Covered:
    """A promise and what was seen of it over the divisions that had a threshold for it (`divisions`).

    `mean`, `lowest`: share of the test questions with a right candidate whose set keeps one. `gap`: the mean less the
    promise. `right`: of all test questions. `set_size`: what is shown, of `generated`.
    """

    set_name: str
    system: str
    function: str
    promised: float
    divisions: int
    points: float
    mean: float
    lowest: float
    gap: float
    right: float
    set_size: float
    generated: float


@dataclass(frozen=True, slots=True)
class ByBase:
    """A promise by the calibration that comes with the program, and what was seen of it: fields as of `Covered`.

    `kept` of `n` with a right candidate, 95 % from `low` to `high`.
    """

    set_name: str
    system: str
    function: str
    promised: float
    n: int
    kept: float
    low: float
    high: float
    right: float
    set_size: float
    generated: float


@dataclass(frozen=True, slots=True)
class Selected:
    """BothInTop5 of the test questions before and after selection at `SELECTED_AT`, and the mean set after it.

    `n`: test questions of all divisions.
    """

    set_name: str
    system: str
    function: str
    n: int
    both5_before: float
    both5: float
    set_size: float


def points(
    answers: Sequence[Answer], right: Mapping[str, Right], groups: Mapping[str, str]
) -> tuple[Point, ...]:
    """Answers as judged questions. Of two readings a question means one, drawn by the hash of its id."""
    made = []
    for answer in answers:
        if answer.id not in right:
            continue
        reading = meant(answer.id)
        candidates = tuple(
            Judged(verdict[reading], read_scores(proposal.scores))
            for proposal, verdict in zip(answer.proposals, right[answer.id], strict=True)
        )
        made.append(Point(id_hash(answer.id), groups[answer.id], candidates))
    return tuple(made)


def meant(identity: str) -> int:
    """Which of two readings, 0 or 1, the question with that id means."""
    return int(hashlib.sha256(f"reading:{identity}".encode()).hexdigest(), 16) % 2


def covered(of: Source, judged: Sequence[Point], function: str, seed: int) -> tuple[Covered, ...]:
    """Observed coverage at each promise that the points are enough for."""
    found = []
    for promised in PROMISES:
        seen = []
        for salt in _salts(seed):
            _, calibration, test = divide(judged, salt)
            calibrated = calibration.calibrated(function)
            if isinstance(calibrated.at(promised, ""), Threshold):
                seen.append((calibrated.scores.size, observe(test, calibrated, function, promised)))
        seen = [each for each in seen if each[1].kept.n]
        if seen:
            found.append(_covered(of, function, promised, seen))
    return tuple(found)


def by_base(of: Source, judged: Sequence[Point], function: str, k: int) -> tuple[ByBase, ...]:
    """Each promise as it would be kept without a calibration of one's own; none where nothing was made for `k`."""
    calibrated = base.read().beside(Calibrated(), (), function, k)
    found = []
    for promised in PROMISES:
        seen = observe_elsewhere(judged, calibrated, function, promised)
        if seen.calibrated and seen.kept.n:
            low, high = seen.kept.interval()
            found.append(
                ByBase(
                    *(of.set_name, of.system, function, promised, seen.kept.n),
                    *(seen.kept.hits / seen.kept.n, low, high, seen.right.hits / seen.right.n),
                    *(seen.shown / seen.right.n, seen.generated / seen.right.n),
                )
            )
    return tuple(found)


def _covered(of: Source, function: str, promised: float, seen: Sequence[tuple[int, Observed]]) -> Covered:
    observed = [each for _, each in seen]
    kept = [each.kept.hits / each.kept.n for each in observed]
    tests = sum(each.right.n for each in observed)
    mean = statistics.fmean(kept)
    return Covered(
        set_name=of.set_name,
        system=of.system,
        function=function,
        promised=promised,
        divisions=len(seen),
        points=statistics.fmean(size for size, _ in seen),
        mean=mean,
        lowest=min(kept),
        gap=mean - promised,
        right=sum(each.right.hits for each in observed) / tests,
        set_size=sum(each.shown for each in observed) / tests,
        generated=sum(each.generated for each in observed) / tests,
    )


def selected(
    of: Source, judged: Sequence[Point], right: Mapping[str, Right], function: str, seed: int
) -> Selected | None:
    """What selection costs on questions of two readings; None where there are too few for a threshold."""
    readings = {id_hash(key): value for key, value in right.items()}
    before: list[bool] = []
    after: list[bool] = []
    sizes: list[int] = []
    for salt in _salts(seed):
        _, calibration, test = divide(judged, salt)
        calibrated = calibration.calibrated(function)
        for point in _scored(test, function):
            threshold = calibrated.at(SELECTED_AT, point.group)
            if not isinstance(threshold, Threshold):
                continue
            fits = conforming([each.score(function) for each in point.candidates], threshold)
            verdicts = readings[point.question]
            kept = [verdict for verdict, fit in zip(verdicts, fits, strict=True) if fit] or list(verdicts[:1])
            before.append(both(verdicts))
            after.append(both(kept))
            sizes.append(len(kept))
    if not sizes:
        return None
    return Selected(
        of.set_name,
        of.system,
        function,
        len(sizes),
        *(sum(each) / len(sizes) for each in (before, after, sizes)),
    )


def both(verdicts: Sequence[tuple[bool, bool]]) -> bool:
    """BothInTopK as the scorer has it: one right only under reading 1 and one only under 2."""
    top = verdicts[:TOP]
    return any(one and not two for one, two in top) and any(two and not one for one, two in top)


def _scored(test: HeldOutSet, function: str) -> Sequence[Point]:
    return [point for point in test.points if point.scored_by(function)]


def _salts(seed: int) -> list[str]:
    return [f"{seed}:{number}" for number in range(DIVISIONS)]
