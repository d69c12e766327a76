"""The pipeline over its time, its warm-up before the engine is ready, and the parts that are switched off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from engine.app import pipeline
from engine.app.main import conditions, ranker_of
from engine.app.warmup import warm_up
from engine.llm.prompts import prompt
from engine.question.question import Question
from engine.route.router import HybridRouter
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.elements import SchemaLinks
from engine.values.errors import CancelledError
from engine.values.messages import Asker, AskRequest
from engine.values.model_profile import EMBEDDED, ModelProfile
from engine.values.ports import Prompt
from engine.values.settings import EngineSettings, GenerationSettings, Strategy
from engine.values.state import State
from engine.values.tools import NoConditions, NoRanker, Tools
from engine.write.conditions import Classifier
from schema_catalog.types import Snapshot
from tests.support.asking import DATABASE
from tests.support.catalogs import FakeCatalog
from tests.support.schemas import MUSIC
from tests.support.scripted import WordEncoder
from tests.support.tools import bare_tools

TOOLS = bare_tools(*[cast("Any", None)] * 5, generation=GenerationSettings(strategy=Strategy.SEARCH))
OVER = Deadline(1.0, clock=lambda: 2.0)
ASKED = State(AskRequest(Asker("ana", "music"), "how many?"), Question("how many?"), 3, 3, OVER, 0.0)


async def late(_state: State, _tools: Tools) -> State:
    raise CancelledError("out of time")


async def named(state: State, _tools: Tools) -> State:
    return replace(state, k=9)


async def test_out_of_time_a_question_with_candidates_goes_on_without_what_takes_more_and_others_end() -> (
    None
):
    found = (Candidate("music", "SELECT 1", cost=1.0), Candidate("music", "SELECT 2"))
    state = replace(ASKED, candidates=found)
    done = await pipeline.run(state, TOOLS, (named, late, named))
    assert (done.late, done.k) == (True, 9)
    assert done.candidates == found[:1], "what was not planned is not shown"
    with pytest.raises(CancelledError):
        await pipeline.run(replace(state, candidates=found[1:]), TOOLS, (late,))
    with pytest.raises(CancelledError):
        await pipeline.run(ASKED, TOOLS, (named,))


def test_a_little_of_the_time_is_kept() -> None:
    clock = lambda: 10.0  # noqa: E731 - as short as a clock can be
    assert Deadline(20.0, clock).sooner(0.15, 5.0).at == pytest.approx(18.5)
    assert Deadline(110.0, clock).sooner(0.15, 5.0).at == pytest.approx(105.0)


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


SETTINGS = EngineSettings(Path("/run/engine.sock"), "postgresql://store")


def test_what_is_off_reads_no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("engine.write.conditions", "engine.judge.ranker"):
        monkeypatch.setattr(f"{module}.read", None)
    none = cast("Any", None)
    assert isinstance(conditions(SETTINGS.generation, none), NoConditions)
    assert isinstance(ranker_of(SETTINGS, none), NoRanker)


def test_what_is_on_is_there() -> None:
    on = replace(SETTINGS, generation=GenerationSettings(conditions=True))
    assert isinstance(conditions(on.generation, cast("Any", None)), Classifier)
