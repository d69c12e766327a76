"""The engine's service over the benchmark's tools: what `benchmarks.quality.dialogue.conversation` talks to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from benchmarks.quality.candidates.gateway import TIMEOUT
from benchmarks.quality.candidates.tasks import READER, Task
from benchmarks.quality.dialogue.systems import System
from engine.api.question_store import Questions
from engine.api.service import Service
from engine.core.ports import LanguageModel, Prompt
from engine.dialogue.types import Dialogue
from engine.errors import ModelUnavailableError
from engine.settings import Limits
from engine.types import AnswerRequest, AskReply, AskRequest, NoneRequest
from schema_catalog.pg import Pool


class ServiceEngine:
    """Implements `benchmarks.quality.dialogue.conversation.Engine`. Nothing is learned from what is said."""

    def __init__(self, system: System, task: Task, model: LanguageModel, pool: Pool) -> None:
        limits = Limits(timeout=TIMEOUT)
        self._questions = Questions(pool, limits.ttl)
        tools = replace(task.tools, model=model, dialogue=system.settings)
        self._service = Service(tools, self._questions, limits)

    async def ask(self, request: AskRequest) -> AskReply:
        """See `Service.ask`."""
        return await self._service.ask(request)

    async def answer(self, request: AnswerRequest) -> AskReply:
        """See `Service.answer`."""
        return await self._service.answer(request)

    async def none(self, request: NoneRequest) -> AskReply:
        """See `Service.none`."""
        return await self._service.none(request)

    async def dialogue(self, qid: str) -> Dialogue:
        """What has been said under that reply."""
        return (await self._questions.stored(qid, READER)).dialogue


class NothingRecorded:
    """Implements `engine.core.ports.LanguageModel` where only recorded completions may be used: every call fails.

    `missed`: calls since it was last set to 0. A dialogue with one of them is no result.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.missed = 0
        self._model = model

    @property
    def grammars(self) -> bool:
        """The recorded model's."""
        return self._model.grammars

    @property
    def goes_on(self) -> bool:
        """The recorded model's."""
        return self._model.goes_on

    async def complete(self, prompt: Prompt, **_: object) -> NoReturn:  # noqa: ARG002 - the port's
        """Raises `ModelUnavailableError`."""
        self._fail()

    async def weigh(self, prompt: Prompt, options: Sequence[str], **_: object) -> NoReturn:  # noqa: ARG002
        """Raises `ModelUnavailableError`."""
        self._fail()

    async def likelihood(self, prompt: Prompt, answer: str, **_: object) -> NoReturn:  # noqa: ARG002
        """Raises `ModelUnavailableError`."""
        self._fail()

    async def read(self, prompt: Prompt, **_: object) -> NoReturn:  # noqa: ARG002
        """Raises `ModelUnavailableError`."""
        self._fail()

    def _fail(self) -> NoReturn:
        self.missed += 1
        raise ModelUnavailableError("this completion is not recorded", hint="Run without --recorded.")
