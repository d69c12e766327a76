"""Write: has the model write statements, as the question's strategy wants, or takes those that a dialogue has left.

Owns the choice of the `Generator`, and the time that it has: what was found by then is admitted, judged and shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from engine.values import wording
from engine.values.errors import StaleDialogueError
from engine.values.messages import TraceLine
from engine.values.settings import Strategy
from engine.values.state import State
from engine.values.tools import Tools
from engine.write.readings.generator import readings_of
from engine.write.search.generator import search
from schema_catalog.knowledge import unmade

Generator = Callable[[State, Tools], Awaitable[State]]
"""The port: gives the state with statements for its question that have been admitted, or with a refusal."""

GENERATORS: Mapping[Strategy, Generator] = {Strategy.READINGS: readings_of, Strategy.SEARCH: search}

RESERVED, RESERVED_SECONDS = 0.15, 5.0
"""Share of what is left of the question's time, and seconds at most, in which nothing more is written."""


async def write(state: State, tools: Tools) -> State:
    """Sets `state.candidates`: statements that have been admitted, distinct as text, in the order found.

    There may be more than `state.k`: which ones are kept is the judge stage's. Where a dialogue has left some, these
    are the candidates, and the model is not asked. Raises `StaleDialogueError` (NL004), and `CancelledError` where the
    time is over before there is one.
    """
    await asyncio.to_thread(check_unchanged, state)
    state = _apart(state)
    if state.dialogue.survivors:
        # Without a cost: they are admitted anew, since rights may have gone meanwhile.
        return replace(state, candidates=tuple(replace(c, cost=None) for c in state.dialogue.survivors))
    early = replace(state, deadline=state.deadline.sooner(RESERVED, RESERVED_SECONDS))
    return replace(await GENERATORS[state.strategy](early, tools), deadline=state.deadline)


def _apart(state: State) -> State:
    """Without the databases that are not local where the likeliest is, and without local ones beside it where not."""
    if len({route.database.local for route in state.routes}) < 2:  # noqa: PLR2004 - both kinds
        return state
    local = state.routes[0].database.local
    left = [route.database.name for route in state.routes if route.database.local is not local]
    line = TraceLine("write", "asked apart from", f"{', '.join(left)}: a local database shares no prompt")
    kept = tuple(route for route in state.routes if route.database.local is local)
    return replace(state, routes=kept).noted(line)


def check_unchanged(state: State) -> None:
    """Raises `StaleDialogueError` (NL004) where one has changed or may not answer any longer. Blocks: use a thread."""
    now = {route.database.name: route.snapshot for route in state.routes}
    for name, before in state.dialogue.fingerprints:
        if name not in now or unmade(now[name]).fingerprint != before:
            raise StaleDialogueError.told(wording.STALE)
