"""The order and the chances of readings, by what the model itself has said: it puts the likeliest first.

Owns what a place is worth. Nothing here is calibrated: it stands in until there are points of the model's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.candidate import Candidate
from engine.core.ports import Ranking
from engine.core.state import State
from engine.dialogue.types import Chances, Parting

PLACE = 1.2
"""Log-odds between a reading and the one behind it."""

SOME = 0.8
"""The chance that a reading is right which the asker is told of together, as long as nothing is known of the model."""


def are_readings(candidates: Sequence[Candidate]) -> bool:
    """Whether a model gave them as readings of a question."""
    return any(each.place is not None for each in candidates)


class ByPlace:
    """`engine.core.ports.Ranker` by the places that the model gave."""

    def rank(self, _question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `Ranker.rank`."""
        last = len(candidates)
        return tuple(Ranking(-PLACE * (last if each.place is None else each.place)) for each in candidates)


class PlacesChances:
    """`engine.core.ports.Certainty` by the candidates' shares."""

    def chances(self, state: State) -> Chances:
        """See `Certainty.chances`."""
        return Chances(tuple(SOME * candidate.confidence for candidate in state.candidates))

    def turns(self, chances: Chances, parting: Parting) -> float:
        """See `Certainty.turns`."""
        return parting.potential(chances)
