"""Review: after a rejection that leaves no statement, the model asks what is open before it writes again.

Sphinteract's Summarise-Review-Ask (§6.2.2). What the candidates differ in is asked about by the clarify stage.
"""

from __future__ import annotations

from dataclasses import replace

from engine.core.state import State
from engine.core.tools import Tools
from engine.dialogue.model_question import model_question
from engine.stages.clarify import may_ask
from engine.types import TraceLine


async def review(state: State, tools: Tools) -> State:
    """Sets `dialogue.pending` where the model finds something to ask."""
    exhausted = state.dialogue.survivors == () and bool(state.dialogue.rejected)
    if not exhausted or not state.routes or not tools.dialogue.model_questions or not may_ask(state, tools):
        return state
    asked = await model_question(
        state.ask.question,
        state.routes[0],
        state.dialogue,
        model=tools.model,
        encoder=tools.encoder,
        deadline=state.deadline,
    )
    state = replace(state, usage=state.usage.plus(asked.usage))
    if asked.question is None:
        return state.noted(TraceLine("review", "nothing to ask", "the model finds nothing open"))
    state = state.noted(TraceLine("review", f"asked: {asked.question.ambiguity}", asked.question.words))
    return replace(state, dialogue=replace(state.dialogue, pending=asked.question))
