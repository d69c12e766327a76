"""What is recorded of calls for `NL SHOWPROMPT`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from engine.app.prompt_log import RecordingModel
from engine.llm.fallback import FallbackModel
from engine.values.deadline import Deadline
from engine.values.errors import ModelAwayError
from engine.values.model_profile import UNKNOWN
from engine.values.ports import Completion, Prompt

SOON = Deadline(1.0, lambda: 0.0)


@dataclass
class Service:
    """`away`: it fails, though nobody knows yet."""

    name: str
    away: bool = False
    outage: None = None
    profile: Any = UNKNOWN

    def outgoing(self, prompt: Prompt) -> Prompt:
        return replace(prompt, user=f"{prompt.user} for {self.name}", to=self.name)

    async def complete(self, _prompt: Prompt, **_: object) -> Completion:
        if self.away:
            raise ModelAwayError("no")
        return Completion("SELECT 1", 1, 0, 1, None, finished=True)

    async def likelihood(self, prompt: Prompt, _answer: str, **_: object) -> Completion:
        return await self.complete(prompt)


@pytest.mark.parametrize(
    ("away", "answers"),
    [((False, False), "one"), ((True, False), "two"), ((True, True, False), "three")],
)
async def test_a_prompt_was_sent_to_who_answered(away: tuple[bool, ...], answers: str) -> None:
    services: Any = [Service(*each) for each in zip(("one", "two", "three"), away, strict=False)]
    model = RecordingModel(FallbackModel(services))
    await model.complete(Prompt("", "a"), deadline=SOON, max_tokens=9)
    await model.likelihood(Prompt("", "b"), "c", deadline=SOON)
    assert [(each.to, each.user) for each in model.sent] == [
        (answers, f"a for {answers}"),
        (answers, f"b for {answers}"),
    ]


async def test_a_prompt_that_nobody_answered_was_sent_to_the_first() -> None:
    services: Any = [Service("one", away=True), Service("two", away=True)]
    model = RecordingModel(FallbackModel(services))
    with pytest.raises(ModelAwayError):
        await model.complete(Prompt("", "a"), deadline=SOON, max_tokens=9)
    assert [each.to for each in model.sent] == ["one"]
