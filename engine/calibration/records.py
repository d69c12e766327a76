"""A judged question: its candidates, how each was scored, and which were right. Nothing that was asked or answered."""

from __future__ import annotations

from dataclasses import dataclass

from engine.calibration.conformal import UNSCORED


@dataclass(frozen=True, slots=True)
class Score:
    """A nonconformity score: `function` with its version (`encoder-1`), `value` lower where the fit is better."""

    function: str
    value: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate by its scores. `right`: it gives what the question asks for."""

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
        """Whether every candidate has a score by `function`: else the point says nothing about it."""
        return all(candidate.has(function) for candidate in self.candidates)

    @property
    def answerable(self) -> bool:
        """Whether a right candidate was generated: the condition of the promise."""
        return any(candidate.right for candidate in self.candidates)

    def right_score(self, function: str) -> float | None:
        """The lowest score of a right candidate; None where there is none, or where `function` is unknown."""
        if not self.scored_by(function):
            return None
        return min((each.score(function) for each in self.candidates if each.right), default=None)


def known(value: float | None) -> float:
    """A stored score: what has none is `UNSCORED`."""
    return UNSCORED if value is None else value
