"""Why a question that went through the pipeline has no statement to show."""

from __future__ import annotations

from engine.core.state import State
from engine.dialogue.refusal import Refusal, none_stood, nothing_near, table_name

TABLES = 2
"""Tables named of each route at most."""


def abstention(state: State) -> Refusal:
    """The refusal that a stage set, else what the routes that came near say."""
    if state.refusal is not None:
        return state.refusal
    if not state.routes:
        return nothing_near()
    near = [table_name(route.database.name, key) for route in state.routes for key in route.tables[:TABLES]]
    return none_stood(near, more=bool(state.ask.exclude))
