"""What is done with a question: its statements shown, a question asked back, or none answered, whichever costs least.

The costs are the asker's (`[dialogue]`): of a wrong answer taken for a right one, of a question, of a further statement
to read, of no answer. The chances are calibrated (`engine.dialogue.certainty`). Pure; docs/dialogue.md has the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.dialogue.choice import NONE_RIGHT, Errors
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


def decide(
    chances: Chances, errors: Errors | None, costs: DialogueSettings, *, run: bool = False
) -> Decision:
    """The cheapest action. Of equal ones statements are shown before a question is asked, and that before none.

    `errors`: of the question back, None where there is none. `run`: the first statement runs unread.
    """
    ask = None if errors is None else costs.question + costs.wrong * (1.0 - _right(chances, errors.after))
    show = shown(chances.statements, costs, run=run)
    if errors is not None:
        # What is told apart may be less certain than the chances have it: twins, or a doubt of the linker's.
        least = costs.wrong * (1.0 - _right(chances, errors.before))
        show = (
            max(show, least) if run else max(show, min(least, costs.row + costs.wrong * (1.0 - chances.some)))
        )
    prices = {Action.SHOW: show, Action.ABSTAIN: costs.abstention}
    if ask is not None:
        prices[Action.ASK] = ask
    order = (Action.SHOW, Action.ASK, Action.ABSTAIN)
    cheapest = min((each for each in order if each in prices), key=prices.__getitem__)
    return Decision(cheapest, show, ask, costs.abstention)


def shown(chances: Sequence[float], costs: DialogueSettings, *, run: bool = False) -> float:
    """The cost of a list: the asker takes the first, or reads as many as pay and takes the right one among them."""
    read = chances[:1] if run else chances
    right, least = 0.0, costs.wrong
    for place, chance in enumerate(read):
        right += chance
        least = min(least, place * costs.row + costs.wrong * (1.0 - right))
    return least


def _right(chances: Chances, error: float) -> float:
    """The probability of a right answer at an expected error, which takes it that one of the candidates is right."""
    return min(1.0, (1.0 - error) / (1.0 - NONE_RIGHT)) * chances.some
