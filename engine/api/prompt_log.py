"""A language model that records its prompts, for `NL SHOWPROMPT`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.deadline import Deadline
from engine.core.ports import Completion, LanguageModel, Prompt, Weighed


class RecordingModel:
    """Passes every call on; `sent`: the prompts of one question, in the order of the calls."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.sent: tuple[Prompt, ...] = ()

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
        return await self._model.complete(prompt, **options)

    async def weigh(self, prompt: Prompt, options: Sequence[str], *, deadline: Deadline) -> Weighed:
        """The model's own log-probabilities."""
        self.sent += (prompt,)
        return await self._model.weigh(prompt, options, deadline=deadline)

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """Passed on and not recorded: no answer comes of it."""
        await self._model.read(prompt, deadline=deadline)
