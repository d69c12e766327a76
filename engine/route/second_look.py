"""The second look: the likeliest databases again, by what linking found in each.

Owns what of that counts and how much; the weights are fitted on databases that neither the router nor the linker was
trained on (`training.second_look`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources

from engine.values.elements import Relation
from engine.values.state import Route
from engine.values.tools import RouteWeights

LOOKED_AT = 5
"""Databases looked at again at most."""

CONNECTED_PRIOR = math.log(100)
"""Added to the logit of the asker's own database: another one answers only where its evidence is far stronger.

Of 200 of Spider's training questions, each against four other databases, the right one's odds are higher in 93 %.
"""

_LEAST = 1e-4
"""Probabilities nearer to 0 or 1 count as this near."""

NAMED = 0.9
"""Similarity from which a stored value counts as named by the question."""

Features = Mapping[str, float]


def packaged() -> RouteWeights:
    """Those that come with the program."""
    text = resources.files(__package__).joinpath("second_look.json").read_text(encoding="utf-8")
    known = json.loads(text)["weights"]
    return RouteWeights(known.pop("router"), known)


def features(route: Route) -> Features:
    """What linking found in a route's database."""
    named = {link.span for link in route.values if link.span and link.similarity >= NAMED}
    exactly = {
        link.span for link in route.values if link.relation is Relation.EQUALS and link.similarity >= 1.0
    }
    answerable = 0.5 if route.links is None else route.links.answerable
    return {
        "answerable": _logit(answerable),
        "named": float(len(named)),
        "exactly": float(len(exactly)),
        "unknown": float(len(route.unknown)),
    }


def reweighed(routes: Sequence[Route], weights: RouteWeights) -> tuple[Route, ...]:
    """The routes with new probabilities of the same sum, likeliest first; the asker's own database has its prior."""
    logits = [_score(route, weights) + CONNECTED_PRIOR * route.home for route in routes]
    highest = max(logits)
    raised = [math.exp(each - highest) for each in logits]
    share = sum(route.probability for route in routes) / sum(raised)
    found = [replace(route, probability=each * share) for route, each in zip(routes, raised, strict=True)]
    return tuple(sorted(found, key=lambda route: -route.probability))


def leads_without_prior(other: Route, own: Route) -> bool:
    """Whether `other` would be likelier than `own`, of new probabilities, if that were not the asker's own."""
    return own.home and not other.home and other.probability * math.exp(CONNECTED_PRIOR) > own.probability


def _score(route: Route, weights: RouteWeights) -> float:
    found = features(route)
    known = weights.router * math.log(max(route.probability, _LEAST))
    return known + sum(weight * found[name] for name, weight in weights.others.items())


def _logit(probability: float) -> float:
    within = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(within / (1 - within))
