"""A language model that records its prompts, for `NL SHOWPROMPT`, adds up its tokens, and has each call in a span."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from engine.values.deadline import Deadline
from engine.values.messages import Usage
from engine.values.model_profile import ModelProfile
from engine.values.ports import Completion, LanguageModel, Outgoing, Prompt
from engine.values.tracing import SpanKind, span


class RecordingModel:
    """Passes every call on; `sent`: the prompts of one question, in the order of the calls.

    `usage`: of the calls that were answered.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.sent: tuple[Prompt, ...] = ()
        self.usage = Usage()
        self._marks = dict[str, str]()

    @property
    def hidden(self) -> str:
        """How many texts of each kind the model was not told, in words; empty for none."""
        kinds = [mark[1:].partition(" ")[0] for mark in self._marks]
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))

    @property
    def profile(self) -> ModelProfile:
        """The model's own."""
        return self._model.profile

    async def complete(self, prompt: Prompt, **options: Any) -> Completion:
        """The model's own answer."""
        return await self._recorded(prompt, lambda: self._model.complete(prompt, **options))

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """The model's own."""
        return await self._recorded(prompt, lambda: self._model.likelihood(prompt, answer, deadline=deadline))

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """Passed on and not recorded: no answer comes of it."""
        await self._model.read(prompt, deadline=deadline)

    async def _recorded(self, prompt: Prompt, call: Callable[[], Awaitable[Completion]]) -> Completion:
        """The answer, whose tokens stand on its span by the names of OpenTelemetry's conventions."""
        if isinstance(self._model, Outgoing):
            prompt = await asyncio.to_thread(self._model.outgoing, prompt)
        call_number, self.sent = len(self.sent), (*self.sent, replace(prompt, asked=()))
        with span("chat", SpanKind.CLIENT) as traced:
            answer = await call()
            self.usage = self.usage.plus(answer.usage)
            if answer.sent is not None:
                before, after = self.sent[:call_number], self.sent[call_number + 1 :]
                self.sent = (*before, replace(answer.sent, asked=()), *after)
            self._marks |= dict(answer.marks)
            traced.note(
                gen_ai__operation__name="chat",
                gen_ai__usage__input_tokens=answer.prefilled + answer.cached,
                gen_ai__usage__cache_read__input_tokens=answer.cached,
                gen_ai__usage__output_tokens=answer.generated,
            )
            return answer
