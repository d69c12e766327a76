"""A first statement that lists without an end is gone on with from its beginning."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

from engine.values.model_profile import EMBEDDED, ModelProfile
from engine.values.ports import Completion, Prompt, Token
from engine.values.settings import GenerationSettings
from engine.write.write import write
from tests.support.asking import asked, route, tools

QUESTION = "Which songs do singers sing?"


@dataclass
class Listing:
    """Lists columns without an end where its answer begins anew."""

    profile: ModelProfile = EMBEDDED
    prompts: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        self.prompts.append(prompt)
        if prompt.begun:
            return Completion(" FROM singer\n```", 1, 0, 9, -0.1, finished=True)
        words = ["SELECT", " country,", " country,"]
        tokens = tuple(Token(word, ((word, 0.5), (" artist_name", 0.4))) for word in words)
        return Completion("".join(words), 1, 0, 200, -0.1, finished=False, tokens=tokens)


def test_it_is_gone_on_with_from_its_beginning() -> None:
    model = Listing()
    settings = GenerationSettings(exchanges=False)
    given = replace(tools("", settings=settings), model=cast("Any", model))
    state = asyncio.run(write(replace(asked(QUESTION, route(QUESTION)), calls=4), given))
    assert "SELECT artist_name" in {prompt.begun for prompt in model.prompts}
    assert "SELECT artist_name FROM singer" in {each.sql for each in state.candidates}
