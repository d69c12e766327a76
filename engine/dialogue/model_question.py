"""The question back that a language model asks: summarise, review, ask, and stop early (Sphinteract §6.2.2, §6.2.3).

For what candidates cannot tell: one is left, or they differ in nothing, and the asker says that it is wrong.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from engine.core.deadline import Deadline
from engine.core.ports import Encoder, LanguageModel, Prompt
from engine.core.state import Route
from engine.dialogue.answering import conversation_text
from engine.dialogue.types import Ambiguity, ClarifyingQuestion, Dialogue, Option, Turn
from engine.errors import NLError
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from engine.types import Usage

MAX_TOKENS = 200

ALIKE = 0.85
"""Questions of at least this cosine ask the same."""

_FORM = re.compile(
    r"Clear: [^\n]+\nOpen: (?P<kind>Amb\w+)\nQuestion: (?P<question>[^\n]+\?)"
    r"\nA\. (?P<a>[^\n]+)\nB\. (?P<b>[^\n]+)\nC\. (?P<c>[^\n]+)"
)

_SQL = re.compile(
    r"\b(?:SELECT|FROM|WHERE|JOIN|GROUP BY|ORDER BY|HAVING|LIMIT|DISTINCT|COUNT|SUM|AVG)\b|[=<>*;_()]"
)
_OPEN_ENDED = re.compile(r"(?:other|others|something else|none of|not sure|any of)\b", re.IGNORECASE)
"""The beginnings of answers that say nothing: the asker may always answer in their own words."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A model's question and what it cost.

    `question` is None where it finds nothing open, asks what was asked, does not keep to the form, or fails.
    """

    question: ClarifyingQuestion | None
    usage: Usage


async def model_question(
    question: str,
    route: Route,
    dialogue: Dialogue,
    *,
    model: LanguageModel,
    encoder: Encoder,
    deadline: Deadline,
) -> ModelQuestion:
    """Asks the model once, about `question` and what was said about it so far."""
    text, _ = schema_text(route.snapshot, route.tables)
    # The beginning is that of the prompt for statements, so that the server has it in its prefix cache.
    user = prompt("clarify_user", schema=text, question=question, conversation=conversation_text(dialogue))
    asked = Prompt(prompt("generate_system"), user)
    grammar = clarify_grammar() if model.grammars else None
    try:
        completion = await model.complete(asked, deadline=deadline, max_tokens=MAX_TOKENS, grammar=grammar)
    except NLError:
        return ModelQuestion(None, Usage())
    made = parsed_question(completion.text)
    if made is not None and await asyncio.to_thread(_asked_alike, made, dialogue.turns, encoder):
        made = None
    return ModelQuestion(made, completion.usage)


def clarify_grammar() -> str:
    """The Lark grammar of the model's answer."""
    return resources.files(__package__).joinpath("clarify.lark").read_text(encoding="utf-8")


def parsed_question(text: str) -> ClarifyingQuestion | None:
    """The question in a model's answer; None where it asks none, or fewer than two answers are left.

    Answers that hold SQL or leave all open are left out.
    """
    found = _FORM.search(text)
    if found is None or found["kind"] not in tuple(Ambiguity) or _SQL.search(found["question"]):
        return None
    answers = dict.fromkeys(found[each].strip().rstrip(".") for each in "abc")
    options = tuple(Option(each) for each in answers if not _SQL.search(each) and not _OPEN_ENDED.match(each))
    if len(options) < 2:  # noqa: PLR2004  one answer is no choice
        return None
    return ClarifyingQuestion(Ambiguity(found["kind"]), found["question"], options)


def _asked_alike(made: ClarifyingQuestion, turns: Sequence[Turn], encoder: Encoder) -> bool:
    if not turns:
        return False
    vectors = encoder.encode([made.words, *(turn.question.words for turn in turns)])
    return bool((vectors[1:] @ vectors[0]).max() >= ALIKE)
