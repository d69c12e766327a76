"""Which difference is worth asking about: the one whose answer leaves the least expected error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.core.candidate import Candidate
from engine.dialogue.differences import Aspect, Difference, Reading
from engine.dialogue.facts import Matter

NONE_RIGHT = 0.1
"""The probability that no candidate is right."""

OPTIONS = 3
MINOR = 0.01
"""A third option that is less probable is left to the asker's own words."""

REWRITTEN = 0.5
"""The probability that a statement which is written after an answer is right."""

_MISREAD: Mapping[Aspect, float] = {
    Aspect.COLUMN: 0.02,
    Aspect.TABLE: 0.02,
    Aspect.VALUE: 0.02,
    Aspect.WAY: 0.05,
    Aspect.MATTER: 0.08,
    Aspect.STATEMENT: 0.2,
}
"""How probably an answer goes wrong: the more there is to read and to tell apart, the more."""

_OUTPUTS_MISREAD = 0.05


def probabilities(candidates: Sequence[Candidate]) -> list[float]:
    """Of each candidate that it is right, from the confidences; they sum to 1 - `NONE_RIGHT`."""
    total = sum(each.confidence for each in candidates)
    if total <= 0:
        return [(1 - NONE_RIGHT) / len(candidates) for _ in candidates]
    return [(1 - NONE_RIGHT) * each.confidence / total for each in candidates]


def error_after(groups: Iterable[Sequence[int]], probability: Sequence[float]) -> float:
    """The probability of a wrong answer if one group's likeliest candidate is taken, as the asker chooses the group."""
    return 1 - sum(max((probability[each] for each in group), default=0.0) for group in groups)


def misread(difference: Difference) -> float:
    """How probably an answer about `difference` goes wrong."""
    if difference.aspect is Aspect.MATTER and difference.matter in (Matter.OUTPUT, Matter.DATABASE):
        return _OUTPUTS_MISREAD
    return _MISREAD[difference.aspect]


def offered(difference: Difference, probability: Sequence[float]) -> tuple[Reading, ...]:
    """The likeliest two or three readings, likeliest first."""

    def mass(reading: Reading) -> float:
        return sum(probability[each] for each in reading.members)

    ranked = sorted(difference.readings, key=mass, reverse=True)[:OPTIONS]
    return tuple(
        reading for place, reading in enumerate(ranked) if place < OPTIONS - 1 or mass(reading) >= MINOR
    )


def cost(difference: Difference, probability: Sequence[float]) -> float:
    """The expected error after the asker's answer, which may be misread."""
    groups = [reading.members for reading in offered(difference, probability)]
    return 1 - (1 - misread(difference)) * (1 - error_after(groups, probability))
