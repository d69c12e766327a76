"""The warm-up asks every model once before the engine is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from engine.app.warmup import warm_up
from engine.llm.prompts import prompt
from engine.question.question import Question
from engine.route.router import HybridRouter
from engine.values.candidate import Candidate
from engine.values.elements import SchemaLinks
from engine.values.model_profile import EMBEDDED, ModelProfile
from engine.values.ports import Prompt
from engine.values.tools import Tools
from schema_catalog.types import Snapshot
from tests.support.asking import DATABASE
from tests.support.catalogs import FakeCatalog
from tests.support.schemas import MUSIC
from tests.support.scripted import WordEncoder
from tests.support.tools import bare_tools


@dataclass
class Linker:
    """Remembers the schemas that it is asked about, and whether the engine was ready by then."""

    ready: asyncio.Event
    asked: list[tuple[Snapshot, bool]] = field(default_factory=list)

    def link(self, _question: Question, snapshot: Snapshot) -> SchemaLinks | None:
        self.asked.append((snapshot, self.ready.is_set()))
        return None


@dataclass
class Model:
    """Remembers the prompts that it reads."""

    prompts: list[Prompt] = field(default_factory=list)
    profile: ModelProfile = EMBEDDED

    async def read(self, prompt: Prompt, **_: object) -> None:
        self.prompts.append(prompt)


class Ranker:
    """Counts its calls."""

    calls = 0

    def rank(self, _question: Question, candidates: Sequence[Candidate]) -> Sequence[float]:
        self.calls += 1
        return [0.0] * len(candidates)


def tools_of(encoder: WordEncoder, model: Model, ranker: Ranker, linker: Linker) -> Tools:
    return bare_tools(
        catalog=FakeCatalog(((DATABASE, MUSIC),)),
        upstream=cast("Any", None),
        encoder=encoder,
        model=cast("Any", model),
        router=HybridRouter(cast("Any", encoder)),
        ranker=ranker,
        linker=linker,
    )


async def test_every_model_is_asked_before_the_engine_is_ready() -> None:
    ready, model, ranker = asyncio.Event(), Model(), Ranker()
    linker = Linker(ready)
    await warm_up(tools_of(WordEncoder(), model, ranker, linker), 8, ready)
    assert ready.is_set()
    ((schema, was_ready),) = linker.asked
    assert schema.tables
    assert not was_ready
    assert ranker.calls == 1
    *_, schema_read, follow_ups = model.prompts
    assert "singer_in_concert" in schema_read.user
    assert follow_ups.system == prompt("follow_up_system")
