"""Prefers what agrees with what the asker has meant before: those candidates come first.

A preference only orders: both alternatives stay. What contradicts a weak one keeps its place behind those that agree,
so that a short answer still shows it; what contradicts a strong one, or was rejected for this very question, comes
last. The confidences go with the places, so that they fall from the first candidate to the last as before. Owns also
that what is known to answer is not shown twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.sql.canonical import canonical
from engine.stages.rank import explain
from engine.stages.recall import agreement
from engine.state import Candidate, Route, State, Tools
from engine.types import TraceLine

REFUSED = 10.0
"""What weighs against a statement that the asker rejected for this very question: more than preferences can."""


async def prefer(state: State, tools: Tools) -> State:
    """Sets `preference` and sorts by it, stably; leaves out what means the same as `state.verified`."""
    routes = {route.database.name: route for route in state.routes}
    if state.verified is None and not any(_speaks(route) for route in state.routes):
        return state
    candidates = [each for each in state.candidates if not _known_already(each, state.verified, routes)]
    judged = [replace(each, preference=_preference(each, routes[each.database])) for each in candidates]
    ordered = sorted(judged, key=lambda each: _place(each.preference, tools.learning.strong))
    first = state.verified or (ordered[0] if ordered else None)
    placed = tuple(
        replace(each, confidence=there.confidence, explanation=explain(each, first or each))
        for each, there in zip(ordered, judged, strict=True)
    )
    lines = [
        TraceLine(
            "prefer", "agrees" if each.preference > 0 else "contradicts", each.sql, round(each.preference, 3)
        )
        for each in placed
        if each.preference
    ]
    return replace(state, candidates=placed).noted(*lines)


def _place(preference: float, strong: float) -> float:
    """Where a candidate belongs, least first; equal ones stay as they were ranked."""
    return 0.0 if -strong < preference <= 0.0 else -round(preference, 6)


def _speaks(route: Route) -> bool:
    return bool(route.learned.preferences or route.learned.refused)


def _preference(candidate: Candidate, route: Route) -> float:
    refused = {canonical(sql, route.snapshot) for sql in route.learned.refused}
    if refused and canonical(candidate.sql, route.snapshot) in refused:
        return -REFUSED
    return agreement(candidate, route.learned.preferences)


def _known_already(candidate: Candidate, verified: Candidate | None, routes: Mapping[str, Route]) -> bool:
    if verified is None or candidate.database != verified.database:
        return False
    snapshot = routes[candidate.database].snapshot
    return canonical(candidate.sql, snapshot) == canonical(verified.sql, snapshot)
