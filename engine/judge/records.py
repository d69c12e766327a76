"""A labelled question: its candidates' scores and which are right. Holds neither question nor statement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled candidate. `right`: it gives the known statement's result; `score`: lower where it fits better."""

    right: bool
    score: float


@dataclass(frozen=True, slots=True)
class Point:
    """A question. `question`: the hash of its id. `candidates`: those that could be shown, best ranked first."""

    question: str
    group: str
    candidates: tuple[Judged, ...]

    @property
    def answerable(self) -> bool:
        """Whether a right candidate was generated."""
        return any(candidate.right for candidate in self.candidates)

    @property
    def right_score(self) -> float | None:
        """The lowest score of a right candidate; None without one."""
        return min((each.score for each in self.candidates if each.right), default=None)
