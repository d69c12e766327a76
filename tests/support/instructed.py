"""A model that follows instructions and says its replies in turn, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import Any, cast

from engine.ask.explanation import explained
from engine.judge.judge import judge
from engine.values.model_profile import ModelProfile
from engine.values.model_settings import Effort
from engine.values.ports import Completion, Prompt
from engine.values.settings import Strategy
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.write import write
from schema_catalog.types import ColumnKey
from tests.support.asking import asked, route, tools

QUESTION = "Which concerts are there?"
TITLE: ColumnKey = ("public", "concert", "title")
YEAR: ColumnKey = ("public", "concert", "year")


def reply(*given: tuple[str, str], cannot: str | None = None) -> str:
    listed = [{"meaning": meaning, "sql": sql, "assumes": ""} for meaning, sql in given]
    return json.dumps({"readings": listed, "cannot": cannot})


@dataclass
class Instructed:
    """Says its replies in turn; an exception among them is raised, and of a text with "…" it has not found the end."""

    replies: list[str | Exception]
    prompts: list[Prompt] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    profile: ModelProfile = field(default_factory=ModelProfile)

    async def complete(self, prompt: Prompt, *, max_tokens: int, **_: object) -> Completion:
        self.prompts.append(prompt)
        self.limits.append(max_tokens)
        said = self.replies[len(self.prompts) - 1]
        if isinstance(said, Exception):
            raise said
        return Completion(said.replace("…", ""), 10, 0, 5, None, finished="…" not in said)


def answered(
    model: Instructed, question: str = QUESTION, to: Route | None = None, effort: Effort = Effort.NORMAL
) -> State:
    built = replace(tools(""), model=cast("Any", model), effort=effort)
    return asyncio.run(readings(asked(question, to or route(QUESTION)), built))


async def readings(state: State, built: Tools) -> State:
    written = await write(replace(state, strategy=Strategy.READINGS), built)
    return explained(await judge(written, built))
