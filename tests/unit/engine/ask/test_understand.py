"""The stage before all others: refusals without a model call, translations with one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.app import pipeline
from engine.ask.understand import understand
from engine.question.question import Question
from engine.values.deadline import Deadline
from engine.values.messages import Asker, AskRequest
from engine.values.ports import Completion, Prompt
from engine.values.refusal import RefusalReason
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import State
from schema_catalog.types import Database, Snapshot
from tests.support.catalogs import FakeCatalog, FakeUpstream, entry, table
from tests.support.scripted import ScriptedLLM
from tests.support.tools import bare_tools

SHOP = entry("shop", table("customer", "customer_id", "hotel"), table("order_item", "price", "note"))
ZOO = entry("zoo", table("animal", "species", "weight"))
LADEN = entry(
    "laden", table("kunde", "kundennummer", "ort"), table("rechnung", "betrag", "bezahlt", "faellig")
)
SHANGDIAN = entry("shangdian", table("客户", "姓名", "城市"), table("订单", "金额"))


def understood(
    question: str,
    says: str = "",
    *,
    finished: bool = True,
    strategy: Strategy = Strategy.SEARCH,
    entries: tuple[tuple[Database, Snapshot], ...] = (SHOP, ZOO),
    db: str | None = None,
    dbname: str = "elsewhere",
    hidden: set[object] | None = None,
) -> tuple[State, ScriptedLLM]:
    model = Breaking([says]) if not finished else ScriptedLLM([says])
    catalog = FakeCatalog(entries)
    tools = bare_tools(catalog, FakeUpstream(catalog, hidden or set()), model=cast("Any", model))
    ask, deadline = AskRequest(Asker("ann", dbname), question, db=db), Deadline(1e12, lambda: 0.0)
    state = State(ask, Question(question), 3, 3, deadline, 0.0, strategy=strategy)
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


def test_a_question_goes_on_as_it_is_and_an_order_in_another_language_is_refused() -> None:
    state, model = understood("How many singers are there?")
    assert (state.refusal, state.translation, state.trace) == (None, None, ())
    assert model.prompts == []
    state, _ = understood("Lösche alle Bestellungen vom letzten Jahr", "Delete all orders from last year")
    assert state.refusal is not None
    assert state.refusal.reason is RefusalReason.ORDER


def test_a_question_in_another_language_goes_on_in_english() -> None:
    state, model = understood(
        "Wie viele Kunden haben wir seit 2020?", "How many customers do we have since 2020?"
    )
    assert state.question.text == state.translation == "How many customers do we have since 2020?"
    assert state.refusal is None
    assert state.usage.calls == len(model.prompts) == 1
    assert model.prompts[0].user.startswith("German: Wie viele Kunden haben wir seit 2020?")


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
    assert state.question.text == question


def test_half_a_translation_is_refused_and_the_stages_behind_a_refusal_are_skipped() -> None:
    state, _ = understood("Wie viele Kunden haben wir?", "How many customers do", finished=False)
    assert state.refusal is not None
    tools = bare_tools(generation=GenerationSettings(strategy=Strategy.SEARCH))
    state = State(AskRequest(Asker("ana", "music"), "hello"), Question("hello"), 3, 3, Deadline(1e12), 0.0)
    done = asyncio.run(pipeline.run(state, tools))
    assert [timing.stage for timing in done.timings] == ["understand"]


CHINESE, GERMAN = "上海有多少客户", "Wie viele Kunden haben noch eine Rechnung nicht bezahlt?"
READINGS = Strategy.READINGS


@pytest.mark.parametrize(
    ("question", "entries", "db", "dbname"),
    [
        (CHINESE, (SHOP, ZOO), "shop", "elsewhere"),
        (CHINESE, (SHOP,), None, "elsewhere"),
        (CHINESE, (SHOP, ZOO), None, "shop"),
        (CHINESE, (SHOP, SHANGDIAN), None, "elsewhere"),
        (GERMAN, (SHOP, LADEN), None, "elsewhere"),
    ],
    ids=["one is named", "there is one", "connected to one", "its own script", "its own words"],
)
def test_a_model_of_readings_is_asked_as_the_question_was_asked(
    question: str, entries: tuple[tuple[Database, Snapshot], ...], db: str | None, dbname: str
) -> None:
    state, model = understood(question, strategy=READINGS, entries=entries, db=db, dbname=dbname)
    assert (state.question.text, state.translation, state.routed_by, model.prompts) == (
        question,
        None,
        None,
        [],
    )


@pytest.mark.parametrize("question", [CHINESE, "Wie viele Hotels haben unsere Kunden bezahlt?"])
def test_english_serves_the_router_alone_where_a_model_of_readings_is_asked(question: str) -> None:
    state, model = understood(question, "How many customers are there?", strategy=READINGS)
    assert (state.question.text, state.routed_by) == (question, Question("How many customers are there?"))
    assert (state.translation, state.refusal, state.usage.calls) == (None, None, len(model.prompts))


def test_the_router_gets_the_schemas_own_language_and_what_cannot_be_translated_as_it_was_asked() -> None:
    state, _ = understood(GERMAN, GERMAN, strategy=READINGS)
    assert (state.question.text, state.routed_by, state.refusal) == (GERMAN, None, None)
    state, _ = understood(CHINESE, "How many customers are in Shanghai?", entries=(SHOP, SHANGDIAN))
    assert state.question.text == state.translation == "How many customers are in Shanghai?"
    assert state.routed_by == Question(CHINESE)
    foreign, _ = understood(CHINESE, "How many customers are in Shanghai?")
    assert foreign.routed_by is None


def test_a_schema_that_the_asker_may_not_read_tells_no_language() -> None:
    entries, english = (SHOP, ZOO, SHANGDIAN), "How many customers are in Shanghai?"
    state, _ = understood(
        CHINESE, english, strategy=READINGS, entries=entries, dbname="", hidden={"shangdian"}
    )
    assert state.routed_by == Question(english)
