"""What a model would be sent for a question, without sending it; `pgparley check prompt` prints it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Never

from engine.app import pipeline
from engine.link.withheld import for_service
from engine.question.question import Question
from engine.values.deadline import Deadline
from engine.values.elements import plain_name
from engine.values.errors import AbstainedError
from engine.values.messages import AskRequest, PersonalPart, PromptReply
from engine.values.model_profile import ModelProfile
from engine.values.ports import LanguageModel, Outgoing, Prompt
from engine.values.settings import Limits
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.write import write
from schema_catalog.personal import personal_columns, personal_texts

CHARACTERS = 3.6
"""Of a token, of the tokenizers of most services, in schemas and SQL."""


class _AskedError(Exception):
    """Stands in the place of the model's answer."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__("the model would be asked")
        self.prompt = prompt


@dataclass(frozen=True, slots=True)
class _Unasked:
    """A model that is asked for nothing: what it would be sent is raised."""

    profile: ModelProfile

    async def complete(self, prompt: Prompt, **_: object) -> Never:
        """Raises `_AskedError`."""
        raise _AskedError(prompt)

    async def likelihood(self, prompt: Prompt, answer: str, **_: object) -> Never:  # noqa: ARG002 - the protocol's
        """Raises `_AskedError`."""
        raise _AskedError(prompt)

    async def read(self, prompt: Prompt, **_: object) -> None:
        """Nothing is kept."""


async def preview(request: AskRequest, tools: Tools, limits: Limits) -> PromptReply:
    """The first prompt of a question; raises `NLError`, `AbstainedError` where it comes to none."""
    asked_model, model = tools.model, _Unasked(tools.model.profile)
    tools = replace(tools, model=model)
    started = time.monotonic()
    deadline = Deadline(started + min(request.timeout or limits.timeout, limits.timeout))
    width = limits.width(request.k)
    state = State(request, Question(request.question), width, max(limits.calls, width), deadline, started)
    before = pipeline.CANDIDATE_STAGES[: pipeline.CANDIDATE_STAGES.index(write)]
    try:
        state = await pipeline.run(state, tools, before)
        if not state.settled and state.routes:
            await write(state, tools)
    except _AskedError as asked:
        return await asyncio.to_thread(_reply, asked.prompt, state, asked_model)
    why = state.refusal.words if state.refusal else "the catalog answers it, or asks back"
    raise AbstainedError(
        "the model would not be asked", detail=f"{why}.", hint="Name the database: --database NAME."
    )


def _reply(prompt: Prompt, state: State, model: LanguageModel) -> PromptReply:
    if isinstance(model, Outgoing):
        prompt = model.outgoing(prompt)
    text = "\n\n".join(filter(None, (prompt.system, prompt.user, prompt.prefix)))
    personal = dict.fromkeys((*_known(state.routes, text), *_seen(text)))
    return PromptReply(prompt.system, prompt.user, round(len(text) / CHARACTERS), tuple(personal), prompt.to)


def _known(routes: Iterable[Route], text: str) -> Iterator[PersonalPart]:
    """Values of columns of personal data that stand in the prompt: as the question names them, or a DBA allowed."""
    for route in routes:
        columns = personal_columns(route.snapshot)
        for link in for_service(route).values:
            kind = route.withheld.get(link.column) or columns.get(link.column)
            for value in link.values if kind else ():
                if value in text and kind:
                    yield PersonalPart(kind, value, f"{plain_name(link.column)}, which the question names")
        for each in route.told:
            kind = columns.get(each.column)
            for value in each.values if kind else ():
                if value in text and kind:
                    yield PersonalPart(kind, value, f"{plain_name(each.column)}, which a DBA allowed")


def _seen(text: str) -> Iterator[PersonalPart]:
    for kind, found in personal_texts(text):
        yield PersonalPart(kind, found, "by its form")
