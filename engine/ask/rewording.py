"""A question in other words by the language model: in English, and in full words; one call each.

Owns the check of what it writes: a question that lost a number or a quoted value asks for something else.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.llm.prompts import prompt
from engine.llm.redaction import words
from engine.question.language import Language
from engine.question.question import Question
from engine.question.tokens import keeps_values
from engine.statement.written import quoted
from engine.values.deadline import Deadline
from engine.values.dialogue import FollowUp
from engine.values.ports import Completion, LanguageModel, Prompt
from engine.write.known_text import EARLIER, before_text

FULL_TOKENS = 80
"""Tokens of a question in full words at most."""

TOKENS_PER_CHARACTER = 1
SLACK_TOKENS = 32
"""Tokens of a translation at most, by the characters of the question, and this many more."""

_FENCE = "```"


async def translate(
    question: Question, language: Language, model: LanguageModel, deadline: Deadline, *, local: bool = False
) -> tuple[Question | None, Completion]:
    """`question` in English with the model's call; None where what the model wrote is no faithful translation.

    `local`: it may be of a local database. Raises the model's errors.
    """
    asked = Prompt(
        prompt("translate_system"),
        prompt("translate_user", language=language.name, question=" ".join(question.text.split())),
        asked=(question.text,),
        local=local,
    )
    most = TOKENS_PER_CHARACTER * len(question.text) + SLACK_TOKENS
    written = await model.complete(asked, deadline=deadline, max_tokens=most)
    english = replace(question, text=words(_line(written.text), written.marks))
    faithful = written.finished and await asyncio.to_thread(_is_faithful, question, english)
    return (english if faithful else None), written


def _line(text: str) -> str:
    """The first line of an answer that says something, without what the prompt says before it."""
    lines = (line.strip() for line in text.split(_FENCE, maxsplit=1)[0].splitlines())
    return next((line for line in lines if line), "").removeprefix("English:").strip()


def _is_faithful(question: Question, english: Question) -> bool:
    """Whether `english` is in English and holds every number and quoted value of `question`."""
    return bool(english.text) and keeps_values(english.text, question.text) and english.language is None


async def in_full(
    follow_up: FollowUp, model: LanguageModel, deadline: Deadline, *, local: bool = False
) -> tuple[str, Completion]:
    """What `follow_up` asks for as a question by itself, with the model's call; `joined` where that lost a part of it.

    Raises the model's errors.
    """
    asked = Prompt(
        prompt("follow_up_system"),
        prompt("follow_up_user", **before_text(follow_up), question=quoted(follow_up.then, EARLIER)),
        asked=(*(each.question for each in follow_up.turns), follow_up.then),
        local=local,
    )
    written = await model.complete(asked, deadline=deadline, max_tokens=FULL_TOKENS)
    full = next((line.strip() for line in written.text.splitlines() if line.strip()), "")
    full = words(full, written.marks)
    told = written.finished and full and keeps_values(full, follow_up.then)
    return (full if told else joined(follow_up)), written


def joined(follow_up: FollowUp) -> str:
    """Both questions, one behind the other."""
    return f"{follow_up.question.rstrip(' ?.!')}; {follow_up.then}"
