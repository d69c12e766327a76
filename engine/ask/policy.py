"""What is done with a question: shown, asked back, or not answered; and how a refusal is told.

The cheapest action by the asker's costs (`[dialogue]`) is taken; docs/surface.md has the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.judge.answer_features import NEAR, farthest
from engine.question.plain import excerpt
from engine.statement.description import in_parts
from engine.values.dialogue import Chances
from engine.values.refusal import Refusal, lacking, none_stood, nothing_near, table_name, undefined, unlikely
from engine.values.settings import DialogueSettings
from engine.values.state import State


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
    """Of a question back: that it `turns` a wrong first statement into a right one; that its answer is `misread`."""

    turns: float
    misread: float = 0.0


def cheapest(
    chances: Chances, worth: Worth | None, costs: DialogueSettings, *, run: bool = False
) -> Decision:
    """The cheapest action; of equals showing, then asking. `worth`: of the question back; `run`: it runs unread."""
    prices = {Action.SHOW: shown(chances, costs, run=run), Action.ABSTAIN: costs.abstention}
    if worth is not None:
        right = min(1.0, chances[0] * (1.0 - worth.misread) + worth.turns)
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


TABLES = 2
"""Tables named of each route at most."""

SHOWN = 60
"""Characters of what a statement shows, at most."""


def abstention(state: State) -> Refusal:
    """The refusal that a stage set, else what the routes that came near say."""
    if state.refusal is not None:
        return state.refusal
    if not state.routes:
        return nothing_near()
    return state.pointing_closer(none_stood(_near(state), more=bool(state.ask.exclude)))


def doubt(state: State) -> Refusal:
    """The refusal of a question whose statements are all unlikely, by the first reason that explains it.

    It tells what the closest statement shows: a median that was averaged is seen there. Parses it: call it in a thread.
    """
    first = state.candidates[0]
    route = state.route_of(first.database)
    if route.unknown:
        said = "" if route.unanswerable else _output(first.sql)
        return lacking(route.unknown, [first.database], partly=not route.unanswerable, shown=said)
    if first.missing:
        return undefined(first.missing, first.database)
    phrase, cosine = farthest(first, route)
    unsaid = first.evidence.words or ((phrase,) if cosine < NEAR else ())
    return unlikely(_near(state), unsaid, _output(first.sql))


def _output(sql: str) -> str:
    """What a statement shows, in words."""
    return excerpt(dict(in_parts(sql)).get("shows", ""), SHOWN)


def _near(state: State) -> list[str]:
    return [table_name(route.database.name, key) for route in state.routes for key in route.tables[:TABLES]]
