"""Divide: a question over two databases is told so, and answered in two parts where both make sense by themselves."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.core.state import State
from engine.core.tools import Tools
from engine.dialogue.policy import refused
from engine.dialogue.refusal import two_databases
from engine.understanding.divided import divided


async def divide(state: State, tools: Tools) -> State:
    """Sets `refusal`, and `parts` where it falls into two questions, where no database holds all that is asked about.

    A foreign table that stands for the other side is a table like any other.
    """
    if state.ask.db is not None:
        return state
    found = await asyncio.to_thread(divided, state.ask.question, state.routes, tools.encoder)
    if found is None:
        return state
    told = refused(state, two_databases([(each.words, each.database) for each in found]), "divide")
    parts = tuple((each.database, each.question) for each in found if each.question is not None)
    return replace(told, parts=parts)
