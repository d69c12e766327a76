"""Follow-ups told from questions by their form, and put into full words."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.ask.understand import understand
from engine.question.question import Question
from engine.values.dialogue import Dialogue, FollowUp
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import State
from tests.support.asking import asked, route
from tests.support.scripted import ScriptedLLM
from tests.support.tools import bare_tools

FOLLOW_UPS = """
And by month?
only the west
sort them by name
why is it so few?
What about Japan?
How many are there?
Which of them is the oldest?
What is their average age?
Add the owner's first names also.
Longest match?
"""

QUESTIONS = """
How many singers are there?
Which singers are older than the average of their country?
For each continent, list its id, name, and how many countries it has.
List the full name of those employees who earn below 6000.
Which dogs are of the rarest breed? Show their names and treatment dates.
delete all orders from last year
thanks
SELECT a FROM b
"""

FRENCH = "SELECT count(*) FROM singer WHERE country = 'France'"
BEFORE = FollowUp("How many singers are from France?", FRENCH, "and from Japan, over 40?")


@pytest.mark.parametrize("text", (FOLLOW_UPS + QUESTIONS).strip().replace("\n\n", "\n").splitlines())
def test_what_goes_on_and_what_stands_by_itself(text: str) -> None:
    assert bool(Question(text).goes_on) is (text in FOLLOW_UPS.splitlines())


def understood(
    says: str, dialogue: Dialogue, strategy: Strategy = Strategy.SEARCH
) -> tuple[State, ScriptedLLM]:
    model = ScriptedLLM([says])
    tools = bare_tools(model=cast("Any", model), generation=GenerationSettings(strategy=strategy))
    state = replace(asked(BEFORE.then, route(BEFORE.then)), dialogue=dialogue, routes=())
    return asyncio.run(understand(state, tools)), model


def test_the_embedded_model_says_it_in_full_words() -> None:
    full = "How many singers over 40 are from Japan?"
    state, model = understood(full, Dialogue(follow_up=BEFORE))
    assert (state.question.text, state.dialogue.read_as) == (full, full)
    assert all(part in model.prompts[0].user for part in (BEFORE.question, BEFORE.sql, BEFORE.then))
    assert state.usage.calls == 1


@pytest.mark.parametrize("says", ["How many singers are from Japan?", ""])
def test_words_that_lose_a_number_are_not_taken(says: str) -> None:
    state, _ = understood(says, Dialogue(follow_up=BEFORE))
    assert state.question.text == "How many singers are from France; and from Japan, over 40?"


def test_what_was_read_once_is_not_read_again_and_an_order_in_full_words_is_refused() -> None:
    state, model = understood("", Dialogue(follow_up=BEFORE, read_as="How many are from Japan?"))
    assert state.question.text == "How many are from Japan?"
    assert model.prompts == []
    state, _ = understood(BEFORE.then, Dialogue(follow_up=BEFORE))
    assert state.dialogue == Dialogue()
    removed = replace(BEFORE, then="now remove all singers")
    state, _ = understood("Remove all singers from France", Dialogue(follow_up=removed))
    assert state.refusal is not None
