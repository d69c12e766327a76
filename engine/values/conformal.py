"""Split conformal prediction for sets of candidates (Odin §6.1 and 6.2), without I/O.

A nonconformity score is lower where a candidate fits better. A calibration point is a question with a known right
candidate; its score is the lowest of its right candidates'. The threshold is the ⌈(n + 1)(1 - alpha)⌉-th smallest of n
such scores. The promise is marginal: P(a right candidate is in the set | one was generated) ≥ 1 - alpha, where the
calibration points and the question are exchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from engine.values.candidate import Candidate
from engine.values.elements import Entity, elements_read
from engine.values.proportion import Share
from schema_catalog.types import ColumnKey

Scores = NDArray[np.float64]

UNSCORED = math.inf
"""The shortfall of a statement that reads nothing."""

AGAINST = 0.025
"""How improbable what is known here has to be, if the base kept its promise, for it to count no longer."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Candidates with a score of at most `value` form the set.

    `points`: scores that it comes from. `coverage`: 1 - alpha. `group`: the group whose scores they are, None for all.
    `base`: they are of other databases' questions, and promise nothing here.
    """

    value: float
    points: int
    coverage: float
    group: str | None = None
    base: bool = False

    def admits(self, score: float) -> bool:
        """Whether a candidate is in the set; a tie with the threshold is."""
        return score <= self.value


@dataclass(frozen=True, slots=True)
class Uncalibrated:
    """Too few scores: `points` of the `needed`. `failed`: what the base's threshold keeps here, if too little."""

    points: int
    needed: int
    coverage: float
    failed: Share | None = None


def exact(coverage: float) -> Fraction:
    """1 - alpha in decimal: 0.9 is 9/10. Raises `ValueError` where it is not between 0 and 1."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage is between 0 and 1, not {coverage}")
    return Fraction(repr(float(coverage)))


def rank_of(points: int, coverage: float) -> int:
    """⌈(n + 1)(1 - alpha)⌉, the rank of the threshold among n scores; above n there is none. Raises as `exact`."""
    return math.ceil((points + 1) * exact(coverage))


def needed(coverage: float) -> int:
    """The fewest points for a threshold: 4 for 0.8, 9 for 0.9, 19 for 0.95, 99 for 0.99. Raises as `exact`."""
    share = exact(coverage)
    return math.ceil(share / (1 - share))


def quantile(scores: Scores, coverage: float) -> float | None:
    """The threshold of `scores`, shape (n,); None where n is too small. Raises `ValueError` where one is NaN."""
    if np.isnan(scores).any():
        raise ValueError("a nonconformity score is not a number")
    rank = rank_of(scores.size, coverage)
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= scores.size else None


def conforming(scores: Sequence[float], threshold: Threshold | Uncalibrated) -> tuple[bool, ...]:
    """Which candidates are in the set; all of them where there is no threshold."""
    if isinstance(threshold, Uncalibrated):
        return (True,) * len(scores)
    return tuple(threshold.admits(score) for score in scores)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Scores of right candidates, of all and by group (Mondrian).

    A group with enough points gets the larger of its own threshold and the common one, any other the common one: the
    promise holds over all questions and within each such group. Groups' own lower thresholds would break the first.

    `base`: of other databases' questions. They count while there are too few here and as long as what is `known` here,
    all right candidates' scores whatever their split, does not speak against it.
    """

    scores: Scores = field(default_factory=lambda: np.empty(0))
    groups: Mapping[str, Scores] = field(default_factory=dict)
    base: Scores = field(default_factory=lambda: np.empty(0))
    known: Scores = field(default_factory=lambda: np.empty(0))

    @staticmethod
    def of(pairs: Iterable[tuple[str, float]]) -> Calibrated:
        """From (group, score) of calibration points; raises `ValueError` where a score is NaN."""
        lists: dict[str, list[float]] = {}
        for group, score in pairs:
            if math.isnan(score):
                raise ValueError("a nonconformity score is not a number")
            lists.setdefault(group, []).append(score)
        groups = {group: np.array(values, dtype=np.float64) for group, values in lists.items()}
        whole = np.concatenate([*groups.values()]) if groups else np.empty(0)
        return Calibrated(whole, groups)

    def at(self, coverage: float, group: str) -> Threshold | Uncalibrated:
        """The threshold for a question of `group`; raises `ValueError` where `coverage` is not between 0 and 1."""
        common = quantile(self.scores, coverage)
        if common is None:
            return self._base_at(coverage)
        own = self.groups.get(group, np.empty(0))
        value = quantile(own, coverage)
        if value is not None and value > common:
            return Threshold(value, own.size, coverage, group)
        return Threshold(common, self.scores.size, coverage)

    def _base_at(self, coverage: float) -> Threshold | Uncalibrated:
        lacking = Uncalibrated(self.scores.size, needed(coverage), coverage)
        value = quantile(self.base, coverage)
        if value is None:
            return lacking
        kept = self.known_kept(value)
        if kept.tail(coverage) < AGAINST:
            return replace(lacking, failed=kept)
        return Threshold(value, self.base.size, coverage, base=True)

    def known_kept(self, threshold: float) -> Share:
        """How many of the right candidates that are known here it keeps."""
        return Share(int(np.count_nonzero(self.known <= threshold)), self.known.size)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's database and nonconformity score."""

    database: str
    score: float


@dataclass(frozen=True, slots=True)
class Selection:
    """How an answer's candidates were selected.

    `group`: the likeliest database. `width`: candidates looked for. `whole`: no candidate
    was left out, for want of a threshold or by audit; only then is a choice a calibration point. `candidates`: the
    first `width`, best ranked first.
    """

    group: str
    width: int
    threshold: Threshold | Uncalibrated
    whole: bool
    candidates: tuple[Scored, ...]


def nonconformity(candidate: Candidate) -> float:
    """1 less its confidence, in [0, 1]."""
    return 1.0 - candidate.confidence


def shortfall(candidate: Candidate, entities: Sequence[Entity]) -> float:
    """The largest, over entities, of best cosine in the schema less that in the statement, [0, 2]; or `UNSCORED`."""
    used = elements_read(candidate.columns, candidate.tables)
    if not entities:
        return 0.0
    if not used:
        return UNSCORED
    return max(_passed_over(entity, used) for entity in entities)


def _passed_over(entity: Entity, used: frozenset[ColumnKey]) -> float:
    nearest = max(entity.similarities.values(), default=-1.0)
    return nearest - max(entity.similarities.get(key, -1.0) for key in used)
