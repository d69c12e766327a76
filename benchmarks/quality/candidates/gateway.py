"""pgparley as it is, and with one part of its pipeline set otherwise: `engine.pipeline.run` itself, with real tools."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.quality.candidates.journal import Proposal
from benchmarks.quality.candidates.questions import SETS, Question
from benchmarks.quality.candidates.tasks import READER, Task
from engine import pipeline
from engine.calibration.records import written_scores
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.ports import LanguageModel
from engine.core.state import State
from engine.core.tools import NoConditions, NoValues, Tools
from engine.ranking.ranker import FirstStage
from engine.settings import Limits
from engine.types import Asker, AskRequest

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 240.0
"""Seconds a question: twice the product's own, so that a busy machine costs time and no answers."""

ALL_SETS = tuple(each.name for each in SETS)
AMBIQT = tuple(name for name in ALL_SETS if name.startswith("ambiqt"))
GIVEN = ("spider", *AMBIQT)

TAKEN_AWAY = {"rank": "no_ranking", "deduplicate": "no_merging"}
"""Stages that can be left out, and what the pipeline is called without them."""


def as_built(tools: Tools) -> Tools:
    """The tools as they are."""
    return tools


def first_stage_only(tools: Tools) -> Tools:
    """The tools with a ranker that compares vectors and reads nothing."""
    return replace(tools, ranker=FirstStage(tools.encoder))


@dataclass(frozen=True, slots=True)
class Gateway:
    """The pipeline with `stages`, asked for `k` candidates. `adapt`: the tools with one of them set otherwise."""

    name: str
    k: int
    calls: int
    sets: tuple[str, ...] = ALL_SETS
    stages: tuple[pipeline.Stage, ...] = pipeline.CANDIDATE_STAGES
    adapt: Callable[[Tools], Tools] = as_built

    @property
    def settings(self) -> str:
        """What of this decides answers, beside the code."""
        return f"{self.name} k={self.k} calls={self.calls} {[stage.__name__ for stage in self.stages]}"

    @property
    def sources(self) -> tuple[Path, ...]:
        """The engine, the catalog, and this file."""
        return (Path(__file__), *_sources("engine"), *_sources("schema_catalog"))

    async def prepare(self, task: Task) -> None:
        """Has the router encode the schemas, as the engine does when it starts."""
        entries = await task.tools.catalog.entries()
        wanted = [snapshot for _, snapshot in entries if task.question.database in {None, snapshot.database}]
        await asyncio.to_thread(task.tools.router.prepare, wanted)

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """What the pipeline shows, with the scores by which a set would be selected."""
        state = asked_now(task.question, self.k, self.calls)
        done = await pipeline.run(state, self.adapt(task.tools), self.stages)
        return tuple(map(_proposal, done.candidates[: self.k]))


def asked_now(question: Question, k: int, calls: int) -> State:
    """A question at its start, of an asker who is connected to none of the databases, so that none has a prior."""
    started = time.monotonic()
    ask = AskRequest(Asker(READER, ""), question.text, k=k, db=question.database)
    return State(ask, k, calls, Deadline(started + TIMEOUT), started)


def _sources(package: str) -> Iterator[Path]:
    kept = {".py", ".txt", ".lark", ".sql", ".json"}
    return (path for path in sorted((ROOT / package).rglob("*")) if path.suffix in kept)


def _proposal(candidate: Candidate) -> Proposal:
    return Proposal(candidate.sql, candidate.database, candidate.confidence, written_scores(candidate.scores))


def gateways(plain: LanguageModel, k: int) -> tuple[Gateway, ...]:
    """pgparley, asked for one candidate, and its ablations. `plain`: the same model without grammars.

    An ablation is a setting of what is run, never a copy. One that takes a stage away is listed where the pipeline
    has that stage.
    """
    calls = max(Limits().calls, k)
    return (
        Gateway("pgparley", k, calls),
        Gateway("one_candidate", 1, 1, ("spider",)),
        Gateway("masks_in_prompt", k, calls, GIVEN, adapt=partial(replace, model=plain)),
        Gateway("no_values", k, calls, ("spider", "defog"), adapt=partial(replace, values=NoValues())),
        Gateway("no_conditions", k, calls, ("spider",), adapt=partial(replace, conditions=NoConditions())),
        Gateway("first_stage_only", k, calls, ("spider",), adapt=first_stage_only),
        *(_without(stage, k, calls) for stage in pipeline.CANDIDATE_STAGES if stage.__name__ in TAKEN_AWAY),
    )


def _without(taken: pipeline.Stage, k: int, calls: int) -> Gateway:
    stages = tuple(stage for stage in pipeline.CANDIDATE_STAGES if stage is not taken)
    return Gateway(TAKEN_AWAY[taken.__name__], k, calls, ("spider",), stages)
