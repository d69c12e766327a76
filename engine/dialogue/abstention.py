"""Why a question has no statement to show: set by a stage, or told from the state at the end."""

from __future__ import annotations

from dataclasses import replace

from engine.core.state import State
from engine.dialogue.refusal import Refusal, none_stood, nothing_near, table_name
from engine.types import TraceLine

TABLES = 2
"""Tables named of each route at most."""


def refused(state: State, refusal: Refusal, stage: str) -> State:
    """`state` with the refusal; `NL WHY` shows it with all that would help, of which the answer's row has the best."""
    line = TraceLine(stage, f"refused: {refusal.reason}", refusal.words)
    helps = (TraceLine(stage, "would help", each) for each in refusal.helps)
    return replace(state, refusal=refusal).noted(line, *helps)


def abstention(state: State) -> Refusal:
    """The refusal that a stage set, else what the routes that came near say."""
    if state.refusal is not None:
        return state.refusal
    if not state.routes:
        return nothing_near()
    near = [table_name(route.database.name, key) for route in state.routes for key in route.tables[:TABLES]]
    return none_stood(near, more=bool(state.ask.exclude))
