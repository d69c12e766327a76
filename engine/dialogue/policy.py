"""What is done with a question: its statements shown, a question asked back, or none answered, whichever costs least.

The costs are the asker's (`[dialogue]`): of a wrong answer taken for a right one, of a question, of a further statement
to read, of no answer. The chances are calibrated (`engine.dialogue.certainty`). Pure; docs/dialogue.md has the table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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


def decide(
    chances: Chances, options: Sequence[Collection[int]], costs: DialogueSettings, *, run: bool = False
) -> Decision:
    """The cheapest action. Of equal ones statements are shown before a question is asked, and that before none.

    `options`: the positions of the statements that agree with each option of the question back; none where there is no
    question. `run`: the first statement runs unread.
    """
    show = shown(chances.statements, costs, run=run)
    ask = _asked(chances, options, costs, run=run) if options else None
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


def _asked(
    chances: Chances, options: Sequence[Collection[int]], costs: DialogueSettings, *, run: bool
) -> float:
    """The cost of a question: itself, and what is left to do after each answer.

    Where none of the options is meant the asker says so: they are not misled, and have no answer yet.
    """
    total = costs.question
    offered = 0.0
    for option in options:
        members = [chances.statements[place] for place in sorted(option)]
        share = sum(members)
        offered += share
        if share > 0:
            total += share * shown([each / share for each in members], costs, run=run)
    return total + (1.0 - offered) * min(costs.wrong, costs.abstention)
