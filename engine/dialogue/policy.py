"""What is done with a question: its statements shown, a question asked back, or none answered, whichever costs least.

The costs are the asker's (`[dialogue]`): of a wrong answer taken for a right one, of a question, of a further statement
to read, of no answer. The chances are calibrated (`engine.dialogue.certainty`). Pure; docs/dialogue.md has the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.dialogue.types import Chances
from engine.settings import DialogueSettings


class Action(StrEnum):
    """What the answer is."""

    SHOW = "show"
    ASK = "ask"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class Decision:
    """The cheapest action, and what each costs; `ask` is None where there is nothing to ask."""

    action: Action
    show: float
    ask: float | None
    abstain: float


@dataclass(frozen=True, slots=True)
class Worth:
    """What a question back does: probabilities in [0, 1].

    `turns`: that the first statement is wrong and the answer leads to a right one. `misread`: that the answer is wrong.
    """

    turns: float
    misread: float = 0.0


def decide(chances: Chances, worth: Worth | None, costs: DialogueSettings, *, run: bool = False) -> Decision:
    """The cheapest action. Of equal ones statements are shown before a question is asked, and that before none.

    `worth`: of the question back, None where there is none. `run`: the first statement runs unread.
    """
    prices = {Action.SHOW: shown(chances.statements, costs, run=run), Action.ABSTAIN: costs.abstention}
    if worth is not None:
        right = min(1.0, chances.first * (1.0 - worth.misread) + worth.turns)
        prices[Action.ASK] = costs.question + costs.wrong * (1.0 - right)
    order = (Action.SHOW, Action.ASK, Action.ABSTAIN)
    cheapest = min((each for each in order if each in prices), key=prices.__getitem__)
    return Decision(cheapest, prices[Action.SHOW], prices.get(Action.ASK), costs.abstention)


def shown(chances: Sequence[float], costs: DialogueSettings, *, run: bool = False) -> float:
    """The cost of a list: the asker takes the first, or reads as many as pay and takes the right one among them."""
    read = chances[:1] if run else chances
    right, least = 0.0, costs.wrong
    for place, chance in enumerate(read):
        right += chance
        least = min(least, place * costs.row + costs.wrong * (1.0 - right))
    return least
