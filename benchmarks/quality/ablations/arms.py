"""What is measured: the whole pipeline, and the pipeline without one part each.

An arm is data: other stages, or tools with one of them set otherwise, for `engine.pipeline.run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.ablations.replay import Replay
from benchmarks.quality.candidates.gateway import Gateway, as_built
from benchmarks.quality.candidates.journal import Proposal
from benchmarks.quality.candidates.tasks import Task
from engine import pipeline
from engine.core.defaults import ByLikelihood, NoConditions, NoValues
from engine.core.ports import Completion, LanguageModel, Prompt, Weighed
from engine.core.state import State
from engine.core.tools import Tools
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text
from engine.settings import Limits
from engine.stages.deduplicate import deduplicate
from engine.stages.generate import generate
from engine.stages.rank import rank
from engine.stages.retrieve_feedback import retrieve_feedback

WHOLE = "all"
"""The arm that lacks nothing."""


async def unlinked(state: State, tools: Tools) -> State:  # noqa: ARG001 - a stage
    """Takes the phrases of the question away: without them no element can be masked."""
    return replace(state, routes=tuple(replace(route, entities=()) for route in state.routes))


async def unlike(state: State, tools: Tools) -> State:
    """Generates where no two names are alike."""
    return await generate(state, replace(tools, encoder=NothingAlike()))


async def all_fruitful(state: State, tools: Tools) -> State:  # noqa: ARG001 - a stage
    """Forgets which candidates found nothing."""
    return replace(state, candidates=tuple(replace(each, fruitless=False) for each in state.candidates))


class NothingAlike:
    """`engine.core.ports.Encoder` whose vectors have the cosine 0."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Zeros, shape (len(texts), 1)."""
        return np.zeros((len(texts), 1), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class WithoutAlternatives:
    """`model`, which does not tell what it would have written in a token's place. Asks it the same."""

    model: LanguageModel

    @property
    def grammars(self) -> bool:
        """See `engine.core.ports.LanguageModel.grammars`."""
        return self.model.grammars

    async def complete(self, prompt: Prompt, **options: object) -> Completion:
        """See `engine.core.ports.LanguageModel.complete`."""
        return replace(await self.model.complete(prompt, **options), tokens=())  # type: ignore[arg-type]  # as given

    async def weigh(self, prompt: Prompt, options: Sequence[str], **rest: object) -> Weighed:
        """See `engine.core.ports.LanguageModel.weigh`."""
        return await self.model.weigh(prompt, options, **rest)  # type: ignore[arg-type]  # as given

    async def read(self, prompt: Prompt, **rest: object) -> None:
        """See `engine.core.ports.LanguageModel.read`."""
        await self.model.read(prompt, **rest)  # type: ignore[arg-type]  # as given


@dataclass(frozen=True, slots=True)
class Arm:
    """pgparley without one part. `name`: the part's, in the results. `lacks`: the same in words."""

    name: str
    lacks: str
    stages: tuple[pipeline.Stage, ...] = pipeline.STAGES
    adapt: Callable[[Tools], Tools] = as_built


def _exchanged(one: pipeline.Stage, *others: pipeline.Stage) -> tuple[pipeline.Stage, ...]:
    """The product's stages with `others` in the place of `one`."""
    return tuple(stage for each in pipeline.STAGES for stage in (others if each is one else (each,)))


def _without_alternatives(tools: Tools) -> Tools:
    return replace(tools, model=WithoutAlternatives(tools.model))


def _never_run(tools: Tools) -> Tools:
    return replace(tools, limits=replace(tools.limits, run_candidates=False))


ARMS = (
    Arm(WHOLE, "nothing"),
    Arm("masks", "masked schemas", _exchanged(retrieve_feedback, retrieve_feedback, unlinked)),
    Arm("exchanges", "columns exchanged for others of like names", _exchanged(generate, unlike)),
    Arm("token_alternatives", "columns that the model nearly named", adapt=_without_alternatives),
    Arm("conditions", "conditions", adapt=partial(replace, conditions=NoConditions())),
    Arm("values", "stored values", adapt=partial(replace, values=NoValues())),
    Arm("deduplication", "running candidates before ranking", adapt=_never_run),
    Arm(
        "fruitless", "less weight for what finds nothing", _exchanged(deduplicate, deduplicate, all_fruitful)
    ),
    Arm("second_stage", "the cross-encoder (by likelihood)", adapt=partial(replace, ranker=ByLikelihood())),
    Arm("ranking", "ranking (in the order found)", _exchanged(rank)),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """`benchmarks.quality.candidates.tasks.System`: an arm's pipeline over a model whose answers are kept."""

    gateway: Gateway
    replay: Replay

    @classmethod
    def of(cls, arm: Arm, k: int, replay: Replay) -> Trial:
        """The arm, asked for `k` candidates with the calls that a user's question has."""
        calls = max(Limits().calls, k)
        return cls(Gateway(arm.name, k, calls, (), arm.stages, arm.adapt), replay)

    @property
    def name(self) -> str:
        """The arm's."""
        return self.gateway.name

    @property
    def sets(self) -> tuple[str, ...]:
        """None in particular."""
        return ()

    @property
    def settings(self) -> str:
        """What of this decides answers, beside the code."""
        return self.gateway.settings

    @property
    def sources(self) -> tuple[Path, ...]:
        """The pipeline's and this file."""
        return (Path(__file__), *self.gateway.sources)

    async def prepare(self, task: Task) -> None:
        """Has the router encode the schema, and names what the prompts begin like."""
        await self.gateway.prepare(task)
        if task.place is not None:
            text, _ = await asyncio.to_thread(schema_text, task.place.snapshot, ())
            user = prompt("generate_user", schema=text, values="", question="")
            self.replay.about(Prompt(prompt("generate_system"), user))

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """What the pipeline shows."""
        tools = replace(task.tools, model=self.replay)
        return await self.gateway.answer(replace(task, tools=tools))
