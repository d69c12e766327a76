"""The model: how probable it is that each candidate is right, and what a question back is worth.

A conditional logit over the candidates says which one is right, given that one is; a logistic regression whether one
is, given the database; both times the probability of the route is the confidence. It orders, is shown, is what
selection's threshold is on, and decides whether to show, to ask or to abstain. A third regression says whether the
answer to a question back turns a wrong first one into a right one. Of readings, which a model gave in its own order, a
logistic regression says whether the first is right, by facts of the answer; what is left goes by place to those behind
it. `weights.json` is `training.judgement`'s.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from engine.judge.features import WRONG, Features, answered, logit, made_of, route_features, together
from engine.values.candidate import are_readings
from engine.values.dialogue import Chances, Parting
from engine.values.errors import PackagedError
from engine.values.state import State

LESS = math.log(2.0)
"""Of the log-odds of a statement what its other reading has less at least, where nothing says that it is wrong."""

ASIDE = 0.5
"""Of the probability that no reading is right, or of the least likely, what stands aside has this share."""

FILE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Weights:
    """By features' names: `some` of all together, `which` of a candidate, `turns` of a question back.

    `bounds`: of features of all together, the least and the most that training has seen often: what lies beyond says
    no more than that. `said`, among them, of what is said of a model's first reading.
    """

    some: Features
    which: Features
    turns: Features
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def shares(
        self, each: Sequence[Features], likely: Sequence[float], made_of: Sequence[Sequence[int]] = ()
    ) -> list[float]:
        """The candidates' shares, which sum to 1.

        `likely`: what each has before its features are known. `made_of`: as of `features.made_of`; what a rule made
        stands behind the nearest of these that nothing speaks against.
        """
        odds = np.array([weighed(one, self.which) for one in each])
        for place, of in sorted(enumerate(made_of), key=lambda one: len(one[1])):
            # Rows that are known to repeat each other speak for what shows each once.
            before = of[1:] if each[place].get("once") else of
            sound = next((n for n in before if not any(each[n].get(name) for name in WRONG)), None)
            if sound is not None:
                odds[place] = min(odds[place], odds[sound] - LESS)
        found = np.asarray(likely) * np.exp(odds - odds.max())
        return [float(share) for share in found / (found.sum() or 1.0)]

    def any_right(self, features: Features) -> float:
        """The probability that one is right, given the database."""
        return probability(self.bounded(features), self.some)

    def first_right(self, features: Features) -> float:
        """The probability that a model's first reading is right, within the range seen in training."""
        found = self.any_right(answered(features))
        least, most = self.bounds.get("said", (0.0, 1.0))
        return min(max(found, least), most)

    def bounded(self, features: Features) -> Features:
        """Those within `bounds`."""
        return dict(features) | {
            name: min(max(features[name], least), most)
            for name, (least, most) in self.bounds.items()
            if name in features
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """The weights of statements that were searched for, and those of `readings`. `made`: how, `figures`: how good.

    Of readings `some` are of the first, `which` of those behind it.
    """

    search: Weights
    readings: Weights
    made: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    def confidences(self, state: State, each: Sequence[Features]) -> list[float]:
        """Of `state.candidates` with these features: probabilities, at most 1 together."""
        if not each:
            return []
        if are_readings(state.candidates):
            return self.of_readings(state, each)
        routes = {route.database.name: route for route in state.routes}
        names = [candidate.database for candidate in state.candidates]
        reached = _reached(state)
        probable = [routes[name].probability for name in names]
        shares = self.search.shares(each, probable, made_of(state.candidates))
        leading = routes[names[shares.index(max(shares))]]
        some = self.search.any_right(together(each, shares, route_features(leading)))
        return [reached * some * share for share in shares]

    def of_readings(self, state: State, each: Sequence[Features]) -> list[float]:
        """As `confidences`, of what a model gave in its own order: it has seen all databases, and has chosen."""
        order = sorted(range(len(each)), key=lambda n: each[n]["place"])
        # What stands aside of a reading that is gone stands for it.
        own = [n for n in order if not each[n]["aside"]] or order
        first = self.readings.first_right(each[own[0]])
        behind = probability({"behind": 1.0}, self.readings.which) * (1.0 - first)
        shares = self.readings.shares([each[n] for n in own[1:]], [1.0] * len(own[1:])) if own[1:] else []
        # However doubtful the first is, no other goes before it.
        found = dict(zip(own, (first, *(min(first, behind * share) for share in shares)), strict=True))
        aside = [n for n in range(len(each)) if n not in found]
        least = ASIDE * min(1.0 - sum(found.values()), *found.values()) / (len(aside) or 1)
        reached = _reached(state)
        return [reached * found.get(n, least) for n in range(len(each))]

    def turns(self, state: State, chances: Chances, parting: Parting) -> float:
        """The probability that the first is wrong and the answer to a question back leads to a right one."""
        of = self.readings if are_readings(state.candidates) else self.search
        return probability(turning_features(chances, parting), of.turns)


def _reached(state: State) -> float:
    """How probable it is that the question is of one of the candidates' databases."""
    names = {candidate.database for candidate in state.candidates}
    return min(1.0, sum(route.probability for route in state.routes if route.database.name in names))


def turning_features(chances: Chances, parting: Parting) -> Features:
    """What says whether an answer turns a wrong first statement into a right one."""
    return {"constant": 1.0, "potential": logit(parting.potential(chances)), "twins": float(parting.twins)}


@functools.cache
def packaged() -> Judgement:
    """The one that comes with the program; raises `PackagedError`."""
    try:
        return msgspec.json.decode(FILE.read_bytes(), type=Judgement)
    except (OSError, msgspec.MsgspecError) as problem:
        raise PackagedError(f"{FILE.name} cannot be read ({problem}): install the program again") from problem


def weighed(features: Features, weights: Features) -> float:
    """The sum of the features times their weights."""
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


def probability(features: Features, weights: Features) -> float:
    """By a logistic regression."""
    return 1.0 / (1.0 + math.exp(-weighed(features, weights)))
