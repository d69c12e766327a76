"""A labelled question: its candidates' scores and which are right. Holds neither question nor statement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

UNSCORED = math.inf
"""The score of a candidate that its function cannot judge: above every finite threshold."""


@dataclass(frozen=True, slots=True)
class Score:
    """A nonconformity score: `function` with its version (`encoder-1`), `value` lower where the fit is better."""

    function: str
    value: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled candidate. `right`: it gives the known statement's result."""

    right: bool
    scores: tuple[Score, ...]

    def has(self, function: str) -> bool:
        """Whether `function` scored it."""
        return any(score.function == function for score in self.scores)

    def score(self, function: str) -> float:
        """Its score by `function`; raises `KeyError` where that was not computed."""
        for score in self.scores:
            if score.function == function:
                return score.value
        raise KeyError(function)


@dataclass(frozen=True, slots=True)
class Point:
    """A question. `question`: the hash of its id. `candidates`: those that could be shown, best ranked first."""

    question: str
    group: str
    candidates: tuple[Judged, ...]

    def scored_by(self, function: str) -> bool:
        """Whether every candidate has a score by `function`."""
        return all(candidate.has(function) for candidate in self.candidates)

    @property
    def answerable(self) -> bool:
        """Whether a right candidate was generated."""
        return any(candidate.right for candidate in self.candidates)

    def right_score(self, function: str) -> float | None:
        """The lowest score of a right candidate; None without one, or where a candidate has no score by `function`."""
        if not self.scored_by(function):
            return None
        return min((each.score(function) for each in self.candidates if each.right), default=None)


def written_scores(scores: Iterable[Score]) -> dict[str, float | None]:
    """By function, to be stored; `UNSCORED` is None, since JSON has no infinity."""
    return {score.function: score.value if math.isfinite(score.value) else None for score in scores}


def read_scores(stored: Mapping[str, float | None]) -> tuple[Score, ...]:
    """The scores that were stored so."""
    return tuple(Score(name, UNSCORED if value is None else value) for name, value in stored.items())
