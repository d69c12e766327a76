"""Validate: keeps the statements that would run for the asker, one of each normal form.

The checks (guard, names, EXPLAIN as the asker) are `engine.sql.check`'s.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.core.candidate import Candidate
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.sql.canonical import canonical
from engine.sql.check import Rejection, check_candidate
from engine.types import TraceLine


async def validate(state: State, tools: Tools) -> State:
    """Drops the candidates that would not run and merges those with the same normal form.

    A candidate with a cost has been checked. Of equal ones the best-scored stays, in the first one's place. Raises as
    `check_candidate`.
    """
    routes = {route.database.name: route for route in state.routes}
    outcomes = await asyncio.gather(
        *(_checked(candidate, routes[candidate.database], state, tools) for candidate in state.candidates)
    )
    return await asyncio.to_thread(_distinct, state, outcomes, routes)


def _distinct(state: State, outcomes: Sequence[Candidate | Rejection], routes: Mapping[str, Route]) -> State:
    """The state with the candidates that passed. Parses each statement: not for the event loop."""
    kept: dict[tuple[str, str], Candidate] = {}
    for candidate, outcome in zip(state.candidates, outcomes, strict=True):
        if isinstance(outcome, Rejection):
            line = TraceLine("validate", f"dropped by {outcome.cause}", f"{outcome.message}: {candidate.sql}")
            state = state.noted(line)
            continue
        key = (outcome.database, canonical(outcome.sql, routes[outcome.database].snapshot))
        other = kept.get(key)
        if other is None:
            kept[key] = outcome
            continue
        kept[key] = max(other, outcome, key=_score)
        dropped = min(outcome, other, key=_score)
        state = state.noted(TraceLine("validate", "merged with an equal one", dropped.sql))
    return replace(state, candidates=tuple(kept.values()))


async def _checked(candidate: Candidate, route: Route, state: State, tools: Tools) -> Candidate | Rejection:
    return candidate if candidate.cost is not None else await check_candidate(candidate, route, state, tools)


def _score(candidate: Candidate) -> tuple[float, float, float]:
    logprob = -math.inf if candidate.logprob is None else candidate.logprob
    return (candidate.confidence, candidate.schema_score, logprob)
