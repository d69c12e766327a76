"""A language model that records its prompts, for `NL SHOWPROMPT`, adds up its tokens, and has each call in a span."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from engine.core.deadline import Deadline
from engine.core.ports import Completion, LanguageModel, Prompt, Weighed
from engine.llm.profile import ModelProfile
from engine.tracing import Span, SpanKind, span
from engine.types import Usage

_Answer = TypeVar("_Answer", Completion, Weighed)


class RecordingModel:
    """Passes every call on; `sent`: the prompts of one question, in the order of the calls.

    `usage`: of the calls that were answered.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.sent: tuple[Prompt, ...] = ()
        self.usage = Usage()

    @property
    def profile(self) -> ModelProfile:
        """The model's own."""
        return self._model.profile

    @property
    def grammars(self) -> bool:
        """Whether the model honours grammars."""
        return self._model.grammars

    @property
    def goes_on(self) -> bool:
        """Whether the model goes on with a begun answer."""
        return self._model.goes_on

    async def complete(self, prompt: Prompt, **options: Any) -> Completion:
        """The model's own answer."""
        self.sent += (prompt,)
        with _call() as traced:
            return self._counted(await self._model.complete(prompt, **options), traced)

    async def weigh(self, prompt: Prompt, options: Sequence[str], *, deadline: Deadline) -> Weighed:
        """The model's own log-probabilities."""
        self.sent += (prompt,)
        with _call() as traced:
            return self._counted(await self._model.weigh(prompt, options, deadline=deadline), traced)

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """The model's own."""
        self.sent += (prompt,)
        with _call() as traced:
            return self._counted(await self._model.likelihood(prompt, answer, deadline=deadline), traced)

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """Passed on and not recorded: no answer comes of it."""
        await self._model.read(prompt, deadline=deadline)

    def _counted(self, answer: _Answer, traced: Span) -> _Answer:
        """`answer`, whose tokens stand on its span by the names of OpenTelemetry's conventions."""
        self.usage = self.usage.plus(answer.usage)
        traced.note(
            gen_ai__operation__name="chat",
            gen_ai__usage__input_tokens=answer.prefilled + answer.cached,
            gen_ai__usage__cache_read__input_tokens=answer.cached,
            gen_ai__usage__output_tokens=answer.generated,
        )
        return answer


def _call() -> AbstractContextManager[Span]:
    return span("chat", SpanKind.CLIENT)
