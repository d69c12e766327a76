"""Which difference is worth asking about: the one whose answer leaves the least expected error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.core.candidate import Candidate
from engine.dialogue.differences import Aspect, Difference, Reading
from engine.dialogue.facts import Matter

NONE_RIGHT = 0.1
"""The probability that no candidate is right."""

OPTIONS = 3
MINOR = 0.002
"""A third option that is less probable is left to the asker's own words."""

REWRITTEN = 0.5
"""The probability that a statement which is written after an answer is right."""

_MISREAD: Mapping[Aspect, float] = {
    Aspect.TABLE: 0.02,
    Aspect.COLUMN: 0.02,
    Aspect.VALUE: 0.02,
    Aspect.WAY: 0.05,
    Aspect.MATTER: 0.08,
    Aspect.STATEMENT: 0.35,
}
"""How probably an answer goes wrong: the more there is to read and to tell apart, the more."""

_MISREAD_ON: Mapping[Matter | None, float] = {
    Matter.DATABASE: 0.02,
    Matter.OUTPUT: 0.05,
    Matter.TABLE: 0.15,
    Matter.CONNECTION: 0.2,
}
"""The same of some matters as wholes: people know what they want to see, and not how tables belong together."""


def probabilities(candidates: Sequence[Candidate]) -> list[float]:
    """Of each candidate that it is right, from the confidences; they sum to 1 - `NONE_RIGHT`."""
    total = sum(each.confidence for each in candidates)
    if total <= 0:
        return [(1 - NONE_RIGHT) / len(candidates) for _ in candidates]
    return [(1 - NONE_RIGHT) * each.confidence / total for each in candidates]


def right_after(groups: Iterable[Sequence[int]], probability: Sequence[float]) -> float:
    """The probability of a right answer if the asker names a group and its likeliest candidate is taken."""
    return sum(max((probability[each] for each in group), default=0.0) for group in groups)


def misread(difference: Difference) -> float:
    """How probably an answer about `difference` goes wrong."""
    usual = _MISREAD[difference.aspect]
    return _MISREAD_ON.get(difference.matter, usual) if difference.aspect is Aspect.MATTER else usual


def offered(difference: Difference, probability: Sequence[float]) -> tuple[Reading, ...]:
    """The likeliest two or three readings, likeliest first; behind the others what no statement says yet."""
    written = (1 - sum(each.share for each in difference.readings)) / sum(probability)

    def mass(reading: Reading) -> float:
        return reading.share + written * sum(probability[each] for each in reading.members)

    ranked = sorted(difference.readings, key=mass, reverse=True)[:OPTIONS]
    kept = [reading for place, reading in enumerate(ranked) if place < OPTIONS - 1 or mass(reading) >= MINOR]
    return tuple(sorted(kept, key=lambda reading: not reading.members))


@dataclass(frozen=True, slots=True)
class Errors:
    """The probability of a wrong answer, in [0, 1], without a question and after it is answered."""

    before: float
    after: float

    @property
    def gain(self) -> float:
        """By how much the answer lowers it."""
        return self.before - self.after


def errors(difference: Difference, probability: Sequence[float]) -> Errors:
    """Without a question about `difference`, and after its answer, which may be misread."""
    readings = offered(difference, probability)
    written = 1 - sum(each.share for each in difference.readings)
    right = written * right_after([each.members for each in readings], probability)
    right += REWRITTEN * sum(each.share for each in readings)
    return Errors(1 - written * max(probability), 1 - (1 - misread(difference)) * right)
