"""The stage before all others: refusals without a model call, translations with one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from engine import pipeline
from engine.core.deadline import Deadline
from engine.core.ports import Completion, Prompt
from engine.core.state import State
from engine.dialogue.refusal import RefusalReason
from engine.settings import GenerationSettings, Strategy
from engine.stages.understand import understand
from engine.types import Asker, AskRequest
from tests.support.scripted import ScriptedLLM
from tests.support.tools import bare_tools

NOTHING = cast("Any", None)


def understood(question: str, says: str = "", *, finished: bool = True) -> tuple[State, ScriptedLLM]:
    model = Breaking([says]) if not finished else ScriptedLLM([says])
    searching = GenerationSettings(strategy=Strategy.SEARCH)
    tools = bare_tools(NOTHING, NOTHING, NOTHING, cast("Any", model), NOTHING, generation=searching)
    state = State(AskRequest(Asker("ana", "music"), question), 3, 3, Deadline(1e12), 0.0)
    return asyncio.run(understand(state, tools)), model


class Breaking(ScriptedLLM):
    """Does not end its answer."""

    async def complete(self, prompt: Prompt, **options: object) -> Completion:
        return replace(await super().complete(prompt, **options), finished=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("delete all orders from last year", RefusalReason.ORDER),
        ("hello", RefusalReason.NOT_A_QUESTION),
        ("SELECT a, b FROM c", RefusalReason.NOT_A_QUESTION),
    ],
)
def test_no_question_costs_no_call(text: str, reason: RefusalReason) -> None:
    state, model = understood(text)
    assert state.refusal is not None
    assert state.refusal.reason is reason
    assert model.prompts == []
    assert {line.stage for line in state.trace} == {"understand"}
    assert [line.detail for line in state.trace if line.event == "would help"] == list(state.refusal.helps)


def test_a_question_goes_on_as_it_is() -> None:
    state, model = understood("How many singers are there?")
    assert (state.refusal, state.translation, state.trace) == (None, None, ())
    assert model.prompts == []


def test_a_question_in_another_language_goes_on_in_english() -> None:
    state, model = understood(
        "Wie viele Kunden haben wir seit 2020?", "How many customers do we have since 2020?"
    )
    assert state.ask.question == state.translation == "How many customers do we have since 2020?"
    assert state.refusal is None
    assert state.usage.calls == len(model.prompts) == 1
    assert model.prompts[0].user.startswith("German: Wie viele Kunden haben wir seit 2020?")


def test_an_order_in_another_language_is_refused() -> None:
    state, _ = understood("Lösche alle Bestellungen vom letzten Jahr", "Delete all orders from last year")
    assert state.refusal is not None
    assert state.refusal.reason is RefusalReason.ORDER


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Wie viele Kunden haben wir seit 2020?", "How many customers do we have?"),
        ('Was kostet der Artikel "Käse 40"?', "What does the article cheese 40 cost?"),
        ("Wie viele Kunden haben wir?", "Wie viele Kunden haben wir?"),
        ("Wie viele Kunden haben wir?", ""),
    ],
)
def test_what_is_no_faithful_translation_is_refused(question: str, says: str) -> None:
    state, _ = understood(question, says)
    assert state.refusal is not None
    assert state.refusal.reason is RefusalReason.LANGUAGE
    assert "German" in state.refusal.words
    assert state.ask.question == question


def test_half_a_translation_is_refused() -> None:
    state, _ = understood("Wie viele Kunden haben wir?", "How many customers do", finished=False)
    assert state.refusal is not None


def test_the_stages_behind_a_refusal_are_skipped() -> None:
    tools = bare_tools(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
    state = State(AskRequest(Asker("ana", "music"), "hello"), 3, 3, Deadline(1e12), 0.0)
    done = asyncio.run(pipeline.run(state, tools))
    assert [timing.stage for timing in done.timings] == ["consult_catalog", "understand"]
