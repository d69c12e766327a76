"""Understand: what is no question is refused, and what is no English one by itself is put into such words.

That is a question in another language, and a follow-up. Before any database is looked at; the model is called for that
alone.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.core.state import State
from engine.core.tools import Tools
from engine.dialogue.refusal import no_question, untranslated
from engine.types import TraceLine
from engine.understanding.follow_ups import in_full, joined
from engine.understanding.language import Language, foreign_language, translate
from engine.understanding.requests import request_kind, rows_of_order


async def understand(state: State, tools: Tools) -> State:
    """Sets `refusal`, or `translation` or `dialogue.read_as` and with it the question for the stages behind.

    Raises the model's errors.
    """
    if state.dialogue.follow_up is not None:
        return await _checked(await _in_full(state, tools))
    checked = await _checked(state)
    if checked.refusal is not None:
        return checked
    if tools.asks_for_readings and await _is_routed(state, tools):
        # Such a model reads the question as it was asked; routing reads English.
        return checked
    language = await asyncio.to_thread(foreign_language, state.ask.question)
    return checked if language is None else await _translated(checked, language, tools)


async def _in_full(state: State, tools: Tools) -> State:
    """The state with a follow-up in full words; where the model says them with its readings, in both questions'."""
    dialogue, follow_up = state.dialogue, state.dialogue.follow_up
    if follow_up is None or dialogue.read_as:
        return state.in_full(dialogue.read_as or state.ask.question)
    if tools.asks_for_readings:
        return replace(state, ask=replace(state.ask, question=joined(follow_up)))
    full, call = await in_full(follow_up, tools.model, state.deadline)
    line = TraceLine("understand", "follow-up read as", full)
    return replace(state, usage=state.usage.plus(call.usage)).noted(line).in_full(full)


async def _is_routed(state: State, tools: Tools) -> bool:
    """Whether there is one database that may answer."""
    return state.ask.db is not None or len(await tools.catalog.entries()) == 1


async def _checked(state: State) -> State:
    """The state, refused where its text is no question."""
    text = state.ask.question
    kind = await asyncio.to_thread(request_kind, text)
    return (
        state if kind is None else state.refused(no_question(kind, text, rows_of_order(text)), "understand")
    )


async def _translated(state: State, language: Language, tools: Tools) -> State:
    english, call = await translate(state.ask.question, language, tools.model, state.deadline)
    state = replace(state, usage=state.usage.plus(call.usage))
    if english is None:
        line = TraceLine(
            "understand", f"not translated from {language.name}", call.text, language.probability
        )
        return state.noted(line).refused(untranslated(language.name), "understand")
    line = TraceLine("understand", f"translated from {language.name}", english, language.probability)
    ask = replace(state.ask, question=english)
    return await _checked(replace(state, ask=ask, translation=english).noted(line))
