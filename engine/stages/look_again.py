"""Look again: the routes' probabilities by what linking found in each database, and the likeliest of them handed on."""

from __future__ import annotations

from dataclasses import replace

from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.routing.second_look import features, reweighed
from engine.types import TraceLine

MAX_ROUTES = 3
"""Databases handed on at most: each costs model calls."""

MIN_PROBABILITY = 0.02
"""Least probability of a database after the first."""


async def look_again(state: State, tools: Tools) -> State:
    """Sets `routes`: at most three, likeliest first."""
    if len(state.routes) < 2:  # noqa: PLR2004  nothing to choose among
        return state
    routes = reweighed(state.routes, tools.second_look)
    kept = routes[:1] + tuple(each for each in routes[1:MAX_ROUTES] if each.probability >= MIN_PROBABILITY)
    before = {route.database.name: route.probability for route in state.routes}
    lines = [
        TraceLine("look_again", "database", _found(route, before[route.database.name]), route.probability)
        for route in kept
    ]
    if left := routes[len(kept) :]:
        names = ", ".join(route.database.name for route in left)
        lines.append(TraceLine("look_again", "left out", names, left[0].probability))
    return replace(state, routes=kept).noted(*lines)


def _found(route: Route, before: float) -> str:
    said = ", ".join(f"{name} {value:+.1f}" for name, value in features(route).items() if value)
    return f"{route.database.name}: {before:.0%} before; {said or 'nothing found'}"
