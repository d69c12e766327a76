"""The question back of a language model: the form that its answer has to have, and what becomes of it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import llguidance
import pytest
from llguidance import LLMatcher

from engine.core.deadline import Deadline
from engine.dialogue.model_question import ModelQuestion, clarify_grammar, model_question, parsed_question
from engine.dialogue.types import Ambiguity, ClarifyingQuestion, Dialogue, Option, Turn
from engine.errors import ModelUnavailableError
from tests.support.asking import route
from tests.support.scripted import ScriptedLLM, WordEncoder

ANSWER = """Clear: the singers are those from France
Open: AmbColumn
Question: Which name should be shown?
A. The stage name
B. The legal name
C. Both names
"""
NOTHING = "Clear: all of it\nOpen: nothing\n"


def ask(model: ScriptedLLM, *turns: Turn, rejected: tuple[str, ...] = ()) -> ModelQuestion:
    return asyncio.run(
        model_question(
            "Who is French?",
            route("Who is French?"),
            Dialogue(tuple(turns), tuple(rejected)),
            model=cast("Any", model),
            encoder=WordEncoder(),
            deadline=Deadline(1e12),
        )
    )


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        (ANSWER, True),
        (NOTHING, True),
        (ANSWER.replace("AmbColumn", "AmbNothing"), False),
        (ANSWER.replace("C. Both names\n", ""), False),
        (ANSWER.replace("The stage name", "artist_name = 'x'"), False),
        (ANSWER.replace("shown?", "shown"), False),
        ("Here is my question.\n" + ANSWER, False),
    ],
)
def test_the_grammar(text: str, *, accepted: bool) -> None:
    tokenizer = llguidance.LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(clarify_grammar()))
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_str(text)
    whole = matcher.validate_tokens(tokens) == len(tokens) and matcher.consume_tokens(tokens)
    assert (whole and matcher.is_accepting()) is accepted


def test_an_answer_in_form() -> None:
    assert parsed_question(ANSWER) == ClarifyingQuestion(
        Ambiguity.COLUMN,
        "Which name should be shown?",
        (Option("The stage name"), Option("The legal name"), Option("Both names")),
    )


@pytest.mark.parametrize(
    "text",
    [
        NOTHING,
        "",
        "SELECT 1",
        ANSWER.replace("AmbColumn", "AmbElse"),
        ANSWER.replace("The stage name", "The legal name").replace("Both names", "Other (please say)"),
        ANSWER.replace("The stage name", "SELECT stage").replace("Both names", "a = b"),
    ],
)
def test_what_is_no_question(text: str) -> None:
    assert parsed_question(text) is None


def test_the_prompt_begins_as_that_for_statements_and_holds_what_was_said() -> None:
    model = ScriptedLLM([ANSWER])
    earlier = ClarifyingQuestion(
        Ambiguity.VALUE, "How is France meant?", (Option("as a birthplace"), Option("b"))
    )
    outcome = ask(model, Turn(earlier, 1), rejected=("SELECT country FROM singer",))
    assert outcome.question == parsed_question(ANSWER)
    assert outcome.usage.calls == 1
    [asked] = model.prompts
    assert asked.user.startswith("### Schema\nconcert(")
    assert asked.user.endswith(
        "Question: Who is French?\n"
        "Asked: How is France meant? Answered: as a birthplace\n"
        "Rejected: SELECT country FROM singer"
    )


def test_a_question_that_was_asked_is_dropped() -> None:
    earlier = ClarifyingQuestion(Ambiguity.COLUMN, "Which name should be shown?", (Option("a"), Option("b")))
    assert ask(ScriptedLLM([ANSWER]), Turn(earlier, text="neither")).question is None


def test_a_model_that_fails_asks_nothing() -> None:
    class Silent(ScriptedLLM):
        async def complete(self, *_: object, **__: object) -> Any:
            raise ModelUnavailableError("no model")

    assert ask(Silent([])).question is None
