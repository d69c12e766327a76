"""A language model that remembers what it was sent, for `NL SHOWPROMPT`."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.deadline import Deadline
from engine.core.ports import Completion, LanguageModel, Prompt, Weighed
from engine.types import SentPrompt


class RecordingModel:
    """Passes every call on; `sent` holds the conversations of one question in the order of the calls."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.sent: tuple[SentPrompt, ...] = ()

    @property
    def grammars(self) -> bool:
        """Whether the model honours grammars."""
        return self._model.grammars

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        others: int = 0,
    ) -> Completion:
        """The model's own answer."""
        self.sent += (SentPrompt(prompt.system, prompt.user, prompt.prefix),)
        return await self._model.complete(
            prompt,
            deadline=deadline,
            max_tokens=max_tokens,
            grammar=grammar,
            temperature=temperature,
            seed=seed,
            others=others,
        )

    async def weigh(self, prompt: Prompt, options: Sequence[str], *, deadline: Deadline) -> Weighed:
        """The model's own verdict."""
        self.sent += (SentPrompt(prompt.system, prompt.user, prompt.prefix),)
        return await self._model.weigh(prompt, options, deadline=deadline)

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """The model's own; nothing to record, since no answer comes of it."""
        await self._model.read(prompt, deadline=deadline)
