"""Puts the candidates first that agree with the asker's preferences.

A preference only orders. A candidate that contradicts a weak one keeps its place behind those that agree; one that
contradicts a strong one, or was rejected for this very question, comes last. Confidences stay with the places. Drops
candidates equal to the verified answer.
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
"""Penalty of a statement that the asker rejected for this very question: above any sum of preferences."""


async def apply_preferences(state: State, tools: Tools) -> State:
    """Sets `preference` and sorts by it, stably; drops what has the normal form of `state.verified`."""
    routes = {route.database.name: route for route in state.routes}
    learned = [route.learned for route in state.routes]
    if state.verified is None and not any(each.preferences or each.refused for each in learned):
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
    """The sort key, least first."""
    return 0.0 if -strong < preference <= 0.0 else -round(preference, 6)


def _judged(state: State, routes: Mapping[str, Route]) -> list[Candidate]:
    """The candidates without the verified one, with their preferences. Parses each: not for the event loop."""
    verified = None if state.verified is None else _normal_form(state.verified, routes)
    refused = {
        (name, canonical(sql, route.snapshot))
        for name, route in routes.items()
        for sql in route.learned.refused
    }
    judged = []
    for each in state.candidates:
        form = _normal_form(each, routes)
        if form != verified:
            agrees = agreement(each, routes[each.database].learned.preferences)
            judged.append(replace(each, preference=-REFUSED if form in refused else agrees))
    return judged


def _normal_form(candidate: Candidate, routes: Mapping[str, Route]) -> tuple[str, str]:
    """The database and the normal form."""
    return (candidate.database, canonical(candidate.sql, routes[candidate.database].snapshot))
