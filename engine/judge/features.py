"""What `engine.judge.model` weighs: of each candidate, of its route, and of all candidates together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from engine.judge.answer_features import answer_features, farthest
from engine.statement.tree import parsed
from engine.values.candidate import Candidate, Evidence, RuleKind, are_readings, likelihoods
from engine.values.conformal import shortfall
from engine.values.elements import elements_read
from engine.values.state import Route, State

Features = Mapping[str, float]
"""By name; one that is not there is 0."""

LEAST = 1e-3
"""Probabilities nearer to 0 or 1 than this count as this near."""

LEADING = ("likelihood", "fruitless", "invented", "contradicted", "doubted", "outdated", "tables", "far")
"""A candidate's features that say, of the leading one, whether any is right."""

WRONG = ("fruitless", "contradicted", "doubted", "invented", "outdated")
"""Those that say that a statement is not what was asked: what a rule makes of it then may be likelier."""

ANSWERED = (
    "readings",
    "parted",
    "keyed",
    "assumes",
    "fruitless",
    "unsaid",
    "single",
    "outer",
    "shown",
    "near",
    "far",
    "unshown",
    "unasked",
)
"""Those that say, of a model's first reading, whether it is right."""


def candidate_features(state: State, found: Sequence[Evidence]) -> list[Features]:
    """Of each candidate of `state`. `found`: `engine.findings.evidence.evidence` of them."""
    routes = {route.database.name: route for route in state.routes}
    if are_readings(state.candidates):
        beside, question = state.candidates, state.question
        return [
            place
            if each.is_twin
            else place | answer_features(each, beside, question, routes[each.database], evidence)
            for place, each, evidence in zip(_places(beside), beside, found, strict=True)
        ]
    known = zip(state.candidates, likelihoods(state.candidates), found, strict=True)
    once = (
        float(bool(of) and _shows_once(each, state.candidates[of[0]]))
        for each, of in zip(state.candidates, made_of(state.candidates), strict=True)
    )
    return [
        {"likelihood": likelihood, **_beside(each, routes[each.database]), **evidence.features, "once": one}
        for (each, likelihood, evidence), one in zip(known, once, strict=True)
    ]


def made_of(candidates: Sequence[Candidate]) -> list[tuple[int, ...]]:
    """Of each the places of the statements that rules made it of as another reading, the nearest first.

    None of what needed no rule: the model wrote it as well, or it is merged with what it was made of.
    """
    places = dict[tuple[str, str], int]()
    for texts in (_own, _merged, _before):
        for place, each in enumerate(candidates):
            for sql in texts(each):
                places.setdefault((each.database, sql), place)
    return [
        _of(each, place, places) if each.origin.logprob is None else ()
        for place, each in enumerate(candidates)
    ]


def _of(candidate: Candidate, own: int, places: Mapping[tuple[str, str], int]) -> tuple[int, ...]:
    found = list[int]()
    for change in reversed(candidate.changes):
        place = places.get((candidate.database, change.before))
        if change.kind not in (RuleKind.READING, RuleKind.BESIDE) or place is None or place in found:
            continue
        if place == own:
            break
        found.append(place)
    return tuple(found)


def _own(candidate: Candidate) -> tuple[str, ...]:
    return (candidate.sql,)


def _merged(candidate: Candidate) -> frozenset[str]:
    return candidate.merged


def _before(candidate: Candidate) -> Iterator[str]:
    kept = (RuleKind.NORMALISE, RuleKind.CORRECTION)
    return (change.before for change in candidate.changes if change.kind in kept)


def _shows_once(candidate: Candidate, other: Candidate) -> bool:
    """Whether it shows each row of `other` once, which that repeats."""
    shown = [each.preview.total for each in (candidate, other) if each.preview is not None]
    if len(set(shown)) < 2 or None in shown:  # noqa: PLR2004 - they differ
        return False
    tree = parsed(other.sql)
    return isinstance(tree, exp.Select) and tree.distinct() == parsed(candidate.sql)


def _places(candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """The model was asked for what is likeliest first: behind its last reading stands what rules made of them.

    `aside`: what takes nothing from a reading.
    """
    last = len(candidates)
    keys = [(each.is_twin, last if (own := each.meaning.place) is None else own) for each in candidates]
    order = sorted(range(last), key=keys.__getitem__)
    return [
        {
            "place": float(order.index(number)),
            "aside": float(each.is_twin and not each.needs_proof),
        }
        for number, each in enumerate(candidates)
    ]


def _beside(candidate: Candidate, route: Route) -> Features:
    return {
        "similarity": candidate.origin.schema_score,
        "fruitless": float(candidate.fruitless),
        "forked": float(candidate.origin.forked),
        "readings": float(candidate.origin.readings),
        "invented": float(bool(candidate.missing)),
        "shortfall": min(2.0, shortfall(candidate, route.entities)),
        "agrees": _agreement(candidate, route),
        "tables": math.log(max(1, len(candidate.tables))),
        "far": farthest(candidate, route)[1],
    }


def route_features(route: Route) -> Features:
    """Of the database that the leading candidate is on."""
    found = {"constant": 1.0, "unknown": math.log1p(len(route.unknown))}
    if route.links is not None:
        found["answerable"] = logit(route.links.answerable)
        found["branching"] = math.log1p(len(route.links.branching))
    return found


def together(each: Sequence[Features], shares: Sequence[float], route: Features) -> Features:
    """Of all candidates, one at least. `shares`: of each among them; `route`: `route_features`."""
    first = max(range(len(each)), key=shares.__getitem__)
    return {
        **route,
        "candidates": math.log(len(each)),
        "leads": logit(shares[first]) if len(each) > 1 else 0.0,
        "least_shortfall": min(one.get("shortfall", 0.0) for one in each),
        "most_agrees": max(one.get("agrees", 0.0) for one in each),
        "forks": math.log1p(sum(one.get("forked", 0.0) for one in each)),
        **{name: each[first].get(name, 0.0) for name in LEADING},
    }


def answered(first: Features) -> Features:
    """Of a model's answer, by what is known of its first reading."""
    return {"constant": 1.0, **{name: first.get(name, 0.0) for name in ANSWERED}}


def logit(probability: float) -> float:
    """Its log-odds, of finite size."""
    within = min(max(probability, LEAST), 1.0 - LEAST)
    return math.log(within / (1.0 - within))


def _agreement(candidate: Candidate, route: Route) -> float:
    """The linker's mean log-probability of the elements that it reads, and of linked ones that it does not."""
    if (links := route.links) is None:
        return 0.0
    read = elements_read(candidate.columns, candidate.tables)
    said = [math.log(max(LEAST, links.probabilities.get(element, 0.0))) for element in read]
    left = [
        math.log(max(LEAST, 1.0 - links.probabilities.get(element, 0.0))) for element in links.linked - read
    ]
    return sum(said + left) / len(said + left) if said or left else 0.0
