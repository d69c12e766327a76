"""Several services in the place of one: where one is away, the next is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from engine.llm.client import ChatModel
from engine.values.deadline import Deadline
from engine.values.errors import ModelAwayError
from engine.values.model_profile import ModelProfile
from engine.values.ports import Completion, Prompt

_Answer = TypeVar("_Answer")


class FallbackModel:
    """Implements `engine.values.ports.LanguageModel` over `models`, in the order in which they are asked.

    Each has its circuit and its profile; what is told of one's abilities is told of the first that is asked.
    """

    def __init__(self, models: Sequence[ChatModel]) -> None:
        self._models = tuple(models)

    @property
    def profile(self) -> ModelProfile:
        """See `engine.values.ports.LanguageModel.profile`."""
        return self._first.profile

    @property
    def _first(self) -> ChatModel:
        return next((each for each in self._models if each.outage is None), self._models[0])

    def outgoing(self, prompt: Prompt) -> Prompt:
        """See `engine.values.ports.Outgoing`: of the first that may be asked."""
        *before, last = sorted(self._models, key=lambda model: model.outage is not None)
        for model in before:
            try:
                return model.outgoing(prompt)
            except ModelAwayError:
                continue
        return last.outgoing(prompt)

    async def complete(self, prompt: Prompt, **options: Any) -> Completion:
        """See `engine.values.ports.LanguageModel.complete`."""
        return await self._answered(prompt, lambda model: model.complete(prompt, **options))

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """See `engine.values.ports.LanguageModel.likelihood`."""
        return await self._answered(prompt, lambda each: each.likelihood(prompt, answer, deadline=deadline))

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """See `engine.values.ports.LanguageModel.read`."""
        await self._one(lambda model: model.read(prompt, deadline=deadline))

    async def _answered(
        self, prompt: Prompt, ask: Callable[[ChatModel], Awaitable[Completion]]
    ) -> Completion:
        """The answer, with what was sent to who gave it: not always to the one that `outgoing` expected."""
        model, answer = await self._one(ask)
        return replace(answer, sent=await asyncio.to_thread(model.outgoing, prompt))

    async def _one(self, ask: Callable[[ChatModel], Awaitable[_Answer]]) -> tuple[ChatModel, _Answer]:
        """The first that is not away, and its answer; raises the error of the last."""
        *before, last = self._models
        for model in before:
            try:
                return model, await ask(model)
            except ModelAwayError:
                continue
        return last, await ask(last)
