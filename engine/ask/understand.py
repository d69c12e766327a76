"""Understand: answers from the catalog, refuses what is no question, puts other languages and follow-ups into English.

A model that is asked for readings gets the question as it was asked; then only the router reads English, if there are
several databases and none is the asker's own. A question in a schema's own language is never routed in English.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from engine.ask.from_catalog import answer_from_catalog
from engine.ask.rewording import in_full, joined, translate
from engine.question.language import Language, is_language_of
from engine.question.question import Question
from engine.question.requests import rows_of_order
from engine.route.places import View, at_home
from engine.route.route import askable_views
from engine.values.messages import TraceLine
from engine.values.refusal import no_question, untranslated
from engine.values.state import State
from engine.values.tools import Tools


async def understand(state: State, tools: Tools) -> State:
    """Sets `from_catalog`, `refusal`, or `translation` or `dialogue.read_as` and with it the question from here on.

    Raises as `route`, and the model's errors.
    """
    state = await answer_from_catalog(state, tools)
    if state.from_catalog:
        return state
    if state.dialogue.follow_up is not None:
        return await _checked(await _in_full(state, tools))
    checked = await _checked(state)
    refused = checked.refusal is not None
    language = None if refused else await asyncio.to_thread(lambda: state.question.language)
    if language is None:
        return checked
    views, _ = await askable_views(state, tools)
    # It may be of any of them.
    local = state.local or any(database.local for database, *_ in views)
    own = await asyncio.to_thread(_is_own_language, state.question, language, views)
    if not state.asks_for_readings:
        translated = await _translated(checked, language, tools, local=local)
        return replace(translated, routed_by=state.question) if own else translated
    if own or len(views) == 1 or at_home(state, views) or local:
        return checked
    english, checked = await _in_english(checked, language, tools, local=local)
    return replace(checked, routed_by=english)


def _is_own_language(question: Question, language: Language, views: Sequence[View]) -> bool:
    """Whether the language is that of a schema which the asker may read."""
    schemas = (snapshot.restricted_to(readable) for _, snapshot, readable in views)
    return any(is_language_of(schema, question.text, language) for schema in schemas)


async def _in_full(state: State, tools: Tools) -> State:
    """The state with a follow-up in full words; where the model says them with its readings, in both questions'."""
    dialogue, follow_up = state.dialogue, state.dialogue.follow_up
    if follow_up is None or dialogue.read_as:
        return state.in_full(dialogue.read_as or state.question.text)
    if state.asks_for_readings:
        return replace(state, question=replace(state.question, text=joined(follow_up)))
    full, call = await in_full(follow_up, tools.model, state.deadline, local=state.local)
    line = TraceLine("understand", "follow-up read as", full)
    return replace(state, usage=state.usage.plus(call.usage)).noted(line).in_full(full)


async def _checked(state: State) -> State:
    """The state, refused where its text is no question."""
    kind, text = await asyncio.to_thread(lambda: state.question.request), state.question.text
    return (
        state if kind is None else state.refused(no_question(kind, text, rows_of_order(text)), "understand")
    )


async def _translated(state: State, language: Language, tools: Tools, *, local: bool) -> State:
    english, state = await _in_english(state, language, tools, local=local)
    if english is None:
        return state.refused(untranslated(language.name), "understand")
    return await _checked(replace(state, question=english, translation=english.text))


async def _in_english(
    state: State, language: Language, tools: Tools, *, local: bool
) -> tuple[Question | None, State]:
    """The question in English, None where that lost a part of it; and the state with what it took."""
    english, call = await translate(state.question, language, tools.model, state.deadline, local=local)
    state = replace(state, usage=state.usage.plus(call.usage))
    event = f"translated from {language.name}" if english else f"not translated from {language.name}"
    said = english.text if english else call.text
    return english, state.noted(TraceLine("understand", event, said, language.probability))
