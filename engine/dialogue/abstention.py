"""Why a question has no statement to show: set by a stage, or told from the state at the end."""

from __future__ import annotations

from dataclasses import replace

from engine.core.state import State
from engine.dialogue.refusal import (
    Refusal,
    lacking,
    none_stood,
    nothing_near,
    table_name,
    undefined,
    unlikely,
)
from engine.types import TraceLine

TABLES = 2
"""Tables named of each route at most."""


def refused(state: State, refusal: Refusal, stage: str) -> State:
    """`state` with the refusal; `NL WHY` shows it with all that would help, of which the answer's row has the best."""
    line = TraceLine(stage, f"refused: {refusal.reason}", refusal.words)
    helps = (TraceLine(stage, "would help", each) for each in refusal.helps)
    return replace(state, refusal=refusal).noted(line, *helps, *_failed(refusal, stage))


def _failed(refusal: Refusal, stage: str) -> tuple[TraceLine, ...]:
    """What the catalog keeps of the words that failed."""
    return tuple(TraceLine(stage, "nothing stands for", each) for each in refusal.phrases)


def abstention(state: State) -> Refusal:
    """The refusal that a stage set, else what the routes that came near say."""
    if state.refusal is not None:
        return state.refusal
    if not state.routes:
        return nothing_near()
    return none_stood(_near(state), more=bool(state.ask.exclude))


def doubt(state: State) -> Refusal:
    """The refusal of a question whose statements are all unlikely: by the first of these that explains it.

    A phrase that nothing stands for, values that do not occur, a name that no statement uses, none of these.
    """
    first = state.candidates[0]
    route = next(each for each in state.routes if each.database.name == first.database)
    if route.unknown:
        partly = len(route.entities) > len(route.unknown)
        return lacking(route.unknown, [route.database.name], partly=partly)
    if first.missing:
        return undefined(first.missing, first.database)
    return unlikely(_near(state), first.unsaid)


def _near(state: State) -> list[str]:
    return [table_name(route.database.name, key) for route in state.routes for key in route.tables[:TABLES]]
