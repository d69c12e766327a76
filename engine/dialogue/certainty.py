"""How likely each candidate is right, and what is done with a question: shown, asked back, or not answered.

Three regressions with the packaged weights of `certainty.json` (`training.certainty`): that one candidate is right,
which one then, and that a question back turns a wrong first one into a right one. The cheapest action by the asker's
costs (`[dialogue]`) is taken; docs/dialogue.md has the table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources

import numpy as np

from engine.calibration.conformal import shortfall
from engine.core.candidate import Candidate, likelihoods
from engine.core.elements import SchemaLinks, elements_read
from engine.core.state import Route, State
from engine.dialogue.refusal import (
    Refusal,
    lacking,
    none_stood,
    nothing_near,
    table_name,
    undefined,
    unlikely,
)
from engine.dialogue.types import Chances, Parting
from engine.settings import DialogueSettings
from engine.types import TraceLine

Features = Mapping[str, float]

_LEAST = 1e-3
"""Probabilities nearer to 0 or 1 than this count as this near."""


@dataclass(frozen=True, slots=True)
class Weights:
    """By features' names: `some` of the set's, `which` of a candidate's, `turns` of a question back; others count 0."""

    some: Features
    which: Features
    turns: Features


class FittedCertainty:
    """`engine.core.ports.Certainty` with fitted weights."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def chances(self, state: State) -> Chances:
        """See `Certainty.chances`."""
        if not state.candidates:
            return Chances(())
        each = candidate_features(state)
        return routed(chances_of(set_features(state, each), each, self._weights), state)

    def turns(self, chances: Chances, parting: Parting) -> float:
        """See `Certainty.turns`."""
        return turning_chance(chances, parting, self._weights)


def chances_of(together: Features, each: Sequence[Features], weights: Weights) -> Chances:
    """The chances of candidates, by the features of all `together` and of `each`; none without candidates."""
    if not each:
        return Chances(())
    logits = np.array([_weighed(features, weights.which) for features in each])
    shares = np.exp(logits - logits.max())
    return Chances(tuple((_probability(together, weights.some) * shares / shares.sum()).tolist()))


def routed(chances: Chances, state: State) -> Chances:
    """`chances`, which take the database for given, times the routes' probabilities."""
    likely = {route.database.name: route.probability for route in state.routes}
    weighed = [
        chance * likely[candidate.database]
        for chance, candidate in zip(chances.statements, state.candidates, strict=True)
    ]
    reached = min(1.0, sum(likely[name] for name in {each.database for each in state.candidates}))
    scale = chances.some * reached / (sum(weighed) or 1.0)
    return Chances(tuple(chance * scale for chance in weighed))


def turning_chance(chances: Chances, parting: Parting, weights: Weights) -> float:
    """That the answer to a question back turns a wrong first statement into a right one."""
    return _probability(turning_features(chances, parting), weights.turns)


def packaged() -> Weights:
    """Those that come with the program."""
    text = resources.files(__package__).joinpath("certainty.json").read_text(encoding="utf-8")
    known = json.loads(text)
    return Weights(known["some"], known["which"], known["turns"])


def turning_features(chances: Chances, parting: Parting) -> Features:
    """What says whether an answer turns a wrong first statement into a right one."""
    return {"constant": 1.0, "potential": logit(parting.potential(chances)), "twins": float(parting.twins)}


def logit(probability: float) -> float:
    """Its log-odds, of finite size."""
    within = _within(probability)
    return math.log(within / (1.0 - within))


def set_features(state: State, every: Sequence[Features]) -> Features:
    """Of a question and its candidates together, of which there is one at least; `every`: `candidate_features`."""
    first = every[0]
    route = next(each for each in state.routes if each.database.name == state.candidates[0].database)
    found: dict[str, float] = {
        "constant": 1.0,
        "candidates": math.log(len(every)),
        "leads": logit(math.exp(first["confidence"])) if len(every) > 1 else 0.0,
        "shortfall": min(each["shortfall"] for each in every),
        "unknown": math.log1p(len(route.unknown)),
        "forks": math.log1p(sum(each["forked"] for each in every)),
        **{name: first[name] for name in ("likelihood", "fruitless", "invented", "unsaid")},
    }
    if route.links is not None:
        found |= {
            "linked": 1.0,
            "answerable": logit(route.links.answerable),
            "agrees": max(each["agrees"] for each in every),
            "branching": math.log1p(len(route.links.branching)),
        }
    return found


def candidate_features(state: State) -> Sequence[Features]:
    """Of each candidate beside the others."""
    routes = {route.database.name: route for route in state.routes}
    known = likelihoods(state.candidates)
    return [
        {
            "confidence": math.log(max(share, _LEAST)),
            "first": float(place == 0),
            "shortfall": min(2.0, shortfall(each, routes[each.database].entities)),
            "similarity": each.schema_score,
            "likelihood": likelihood,
            "fruitless": float(each.fruitless),
            "invented": float(bool(each.missing)),
            "unsaid": float(bool(each.unsaid)),
            "agrees": _agreement(each, routes[each.database]),
            "forked": float(each.forked),
        }
        for place, (each, share, likelihood) in enumerate(
            zip(state.candidates, _shares(state.candidates), known, strict=True)
        )
    ]


def _agreement(candidate: Candidate, route: Route) -> float:
    """The mean log-probability, by the linker, of what a statement reads and of what was linked and it does not."""
    links: SchemaLinks | None = route.links
    if links is None:
        return 0.0
    read = elements_read(candidate.columns, candidate.tables)
    said = [math.log(_within(links.probabilities.get(element, 0.0))) for element in read]
    left = [math.log(_within(1.0 - links.probabilities.get(element, 0.0))) for element in links.linked - read]
    return sum(said + left) / len(said + left) if said or left else 0.0


def _shares(candidates: Sequence[Candidate]) -> list[float]:
    total = sum(candidate.confidence for candidate in candidates)
    return [candidate.confidence / total if total else 1.0 / len(candidates) for candidate in candidates]


def _probability(features: Features, weights: Features) -> float:
    return 1.0 / (1.0 + math.exp(-_weighed(features, weights)))


def _weighed(features: Features, weights: Features) -> float:
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


def _within(probability: float) -> float:
    return min(max(probability, _LEAST), 1.0 - _LEAST)


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


def decide(chances: Chances, worth: Worth | None, costs: DialogueSettings, *, run: bool = False) -> Decision:
    """The cheapest action; of equals showing, then asking. `worth`: of the question back; `run`: it runs unread."""
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


TABLES = 2
"""Tables named of each route at most."""


def refused(state: State, refusal: Refusal, stage: str) -> State:
    """`state` with the refusal; `NL WHY` shows it with all that would help, of which the answer's row has the best."""
    return told(replace(state, refusal=refusal), refusal, stage, f"refused: {refusal.reason}")


def told(state: State, refusal: Refusal, stage: str, event: str) -> State:
    """`state` with why, and what would help, in its trace."""
    helps = (TraceLine(stage, "would help", each) for each in refusal.helps)
    return state.noted(TraceLine(stage, event, refusal.words), *helps, *_failed(refusal, stage))


def _failed(refusal: Refusal, stage: str) -> tuple[TraceLine, ...]:
    return tuple(TraceLine(stage, "nothing stands for", each) for each in refusal.phrases)


def abstention(state: State) -> Refusal:
    """The refusal that a stage set, else what the routes that came near say."""
    if state.refusal is not None:
        return state.refusal
    if not state.routes:
        return nothing_near()
    return none_stood(_near(state), more=bool(state.ask.exclude))


def doubt(state: State) -> Refusal:
    """The refusal of a question whose statements are all unlikely, by the first reason that explains it."""
    first = state.candidates[0]
    route = next(each for each in state.routes if each.database.name == first.database)
    if route.unknown:
        return lacking(route.unknown, [route.database.name], partly=not unanswerable(route))
    if first.missing:
        return undefined(first.missing, first.database)
    return unlikely(_near(state), first.unsaid)


def unanswerable(route: Route) -> bool:
    """Whether nothing in the schema stands for anything that is asked."""
    return 0 < len(route.entities) <= len(route.unknown)


def _near(state: State) -> list[str]:
    return [table_name(route.database.name, key) for route in state.routes for key in route.tables[:TABLES]]
