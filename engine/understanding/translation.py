"""A question in another language put into English by the language model, in one call.

Owns the check of what came back: a translation that lost a number or a quoted value asks for something else.
"""

from __future__ import annotations

import asyncio
import re

from engine.core.deadline import Deadline
from engine.core.ports import Completion, LanguageModel, Prompt
from engine.prompting.prompts import prompt
from engine.text.tokens import QUOTED
from engine.understanding.language import Language, foreign_language

TOKENS_PER_CHARACTER = 1
SLACK_TOKENS = 32
"""Tokens of a translation at most, by the characters of the question, and this many more."""

_FENCE = "```"
_NUMBER = re.compile(r"\d+")


async def translate(
    question: str, language: Language, model: LanguageModel, deadline: Deadline
) -> tuple[str | None, Completion]:
    """`question` in English with the model's call; None where what the model wrote is no faithful translation.

    Raises the model's errors.
    """
    asked = Prompt(
        prompt("translate_system"),
        prompt("translate_user", language=language.name, question=" ".join(question.split())),
    )
    most = TOKENS_PER_CHARACTER * len(question) + SLACK_TOKENS
    written = await model.complete(asked, deadline=deadline, max_tokens=most)
    english = _line(written.text)
    faithful = written.finished and await asyncio.to_thread(_is_faithful, question, english)
    return (english if faithful else None), written


def _line(text: str) -> str:
    """The first line of an answer that says something, without what the prompt says before it."""
    lines = (line.strip() for line in text.split(_FENCE, maxsplit=1)[0].splitlines())
    return next((line for line in lines if line), "").removeprefix("English:").strip()


def _is_faithful(question: str, english: str) -> bool:
    """Whether `english` is in English and holds every number and quoted value of `question`."""
    numbers = set(_NUMBER.findall(question))
    quoted = {text[1:-1].strip() for text in QUOTED.findall(question)}
    kept = numbers <= set(_NUMBER.findall(english)) and all(value in english for value in quoted)
    return bool(english) and kept and foreign_language(english) is None
