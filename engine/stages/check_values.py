"""Check_values: looks whether the texts that statements compare columns with occur in them.

A model invents values where a question names none that are stored: such a statement runs, and answers another question.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.core.candidate import Candidate
from engine.core.state import State
from engine.core.tools import Tools
from engine.types import TraceLine
from engine.understanding.missing_values import check_literals

AT_ONCE = 4
"""Candidates looked at at the same time."""


async def check_values(state: State, tools: Tools) -> State:
    """Sets every candidate's `missing`; one of which nothing occurs counts as one that finds nothing.

    Raises as `check_literals`.
    """
    if not tools.limits.run_candidates:
        return state
    routes = {route.database.name: route for route in state.routes}
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def checked(candidate: Candidate) -> Candidate:
        async with semaphore:
            found = await check_literals(candidate, routes[candidate.database], state, tools)
        fruitless = candidate.fruitless or found.all_invented
        return replace(candidate, missing=found.missing, fruitless=fruitless)

    candidates = tuple(await asyncio.gather(*map(checked, state.candidates)))
    lines = [
        TraceLine("check_values", f"{literal.column[2]} '{literal.text}' does not occur", candidate.sql)
        for candidate in candidates
        for literal in candidate.missing
    ]
    return replace(state, candidates=candidates).noted(*lines)
