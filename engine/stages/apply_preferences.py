"""Puts candidates first that agree with what the asker has meant before.

A preference only orders: both alternatives stay. What contradicts a weak one keeps its place behind those that agree,
so that a short answer still shows it; what contradicts a strong one, or was rejected for this very question, comes
last. The confidences go with the places, so that they fall from the first candidate to the last as before. Owns also
that what is known to answer is not shown twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from engine.core.candidate import Candidate
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.sql.canonical import canonical
from engine.stages.rank import explain
from engine.stages.retrieve_feedback import agreement
from engine.types import TraceLine

REFUSED = 10.0
"""What weighs against a statement that the asker rejected for this very question: more than preferences can."""


async def apply_preferences(state: State, tools: Tools) -> State:
    """Sets `preference` and sorts by it, stably; leaves out what means the same as `state.verified`."""
    routes = {route.database.name: route for route in state.routes}
    if state.verified is None and not any(_speaks(route) for route in state.routes):
        return state
    judged = await asyncio.to_thread(_judged, state, routes)
    ordered = sorted(judged, key=lambda each: _place(each.preference, tools.learning.strong))
    first = state.verified or (ordered[0] if ordered else None)
    placed = tuple(
        replace(each, confidence=there.confidence, explanation=explain(each, first or each))
        for each, there in zip(ordered, judged, strict=True)
    )
    lines = [
        TraceLine(
            "apply_preferences",
            "agrees" if each.preference > 0 else "contradicts",
            each.sql,
            round(each.preference, 3),
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


def _judged(state: State, routes: Mapping[str, Route]) -> list[Candidate]:
    """The candidates less what is known already, with their preferences. Parses each: not for the event loop."""
    known = None if state.verified is None else _meaning(state.verified, routes)
    refused = {
        (name, canonical(sql, route.snapshot))
        for name, route in routes.items()
        for sql in route.learned.refused
    }
    judged = []
    for each in state.candidates:
        meaning = _meaning(each, routes)
        if meaning != known:
            agrees = agreement(each, routes[each.database].learned.preferences)
            judged.append(replace(each, preference=-REFUSED if meaning in refused else agrees))
    return judged


def _meaning(candidate: Candidate, routes: Mapping[str, Route]) -> tuple[str, str]:
    """Equal where two statements mean the same: the database and the normal form."""
    return (candidate.database, canonical(candidate.sql, routes[candidate.database].snapshot))
