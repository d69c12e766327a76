"""What answers questions: `engine.app.pipeline.run` with real tools, as it is or with a part changed; the model alone.

Owns what a system is and what it is handed: a question, the database where it is given, and the engine's tools.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from benchmarks.harness.journal import Proposal
from benchmarks.harness.machine import ROOT
from benchmarks.harness.questions import Question
from engine.app import pipeline
from engine.llm.prompts import prompt
from engine.question.question import Question as Asked
from engine.values.deadline import Deadline
from engine.values.messages import Asker, AskRequest
from engine.values.ports import Prompt
from engine.values.settings import Limits
from engine.values.state import State
from engine.values.tools import Tools
from engine.write.schema_text import schema_text
from schema_catalog.types import Database, Snapshot

READER = "bench_reader"
"""The role that asks: it may read every schema and nothing else."""

TIMEOUT = 240.0
"""Seconds a question: twice the product's own, so that a busy machine costs time and no answers."""

WHOLE, ALONE, PLAIN = "pgparley", "model_alone", "plain"
"""`PLAIN`: over the same model without grammars and likelihoods, as any service has it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A database that the question names, and its schema."""

    database: Database
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Task:
    """One question for one system. `place`: None where the database is to be found."""

    question: Question
    place: Place | None
    tools: Tools


class System(Protocol):
    """Something that answers questions with statements, best first.

    `name`: in the results; `lacks`: what of pgparley it has not, in words. `settings`, `sources`: what decides its
    answers, and the files that do.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - see the class

    @property
    def lacks(self) -> str: ...  # noqa: D102 - see the class

    @property
    def settings(self) -> str: ...  # noqa: D102 - see the class

    @property
    def sources(self) -> tuple[Path, ...]: ...  # noqa: D102 - see the class

    async def prepare(self, task: Task) -> None:
        """Makes once a database what is not part of answering; neither timed nor counted."""

    async def begins(self, task: Task) -> Prompt | None:
        """What the prompts of a task begin like, where that is known."""

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """Statements, best first. Raises `NLError` for what its user would be told instead."""


def as_built(tools: Tools) -> Tools:
    """The tools as they are."""
    return tools


def asked_now(question: Question, k: int, calls: int | None = None) -> State:
    """A question at its start, of an asker who is connected to none of the databases, so that none has a prior.

    `calls`: of the model at most; None: those that a user's question has.
    """
    started = time.monotonic()
    ask = AskRequest(Asker(READER, ""), question.text, k=k, db=question.database)
    most = max(Limits().calls, k) if calls is None else calls
    return State(ask, Asked(question.text), k, most, Deadline(started + TIMEOUT), started)


@dataclass(frozen=True, slots=True)
class Gateway:
    """The pipeline with `stages`, asked for `k` candidates. `adapt`: the tools with one of them set otherwise.

    `defined`: the file that says how, where that is not this one.
    """

    name: str
    k: int
    calls: int | None = None
    stages: tuple[pipeline.Stage, ...] = pipeline.CANDIDATE_STAGES
    adapt: Callable[[Tools], Tools] = as_built
    lacks: str = "nothing"
    defined: Path = Path(__file__)

    @property
    def settings(self) -> str:
        """What of this decides answers, beside the code."""
        return f"{self.name} k={self.k} calls={self.calls} {[stage.__name__ for stage in self.stages]}"

    @property
    def sources(self) -> tuple[Path, ...]:
        """The engine, what serves the model, the catalog, and what says how this differs."""
        folders = ("engine", "packages/pgparley-local", "schema_catalog")
        return (Path(__file__), self.defined, *(file for each in folders for file in _sources(each)))

    async def prepare(self, task: Task) -> None:
        """Has the router encode the schemas, as the engine does when it starts."""
        entries = await task.tools.catalog.entries()
        wanted = [snapshot for _, snapshot in entries if task.question.database in {None, snapshot.database}]
        await asyncio.to_thread(task.tools.router.prepare, wanted)

    async def begins(self, task: Task) -> Prompt | None:
        """The instructions and the schema."""
        if task.place is None:
            return None
        text, _ = await asyncio.to_thread(schema_text, task.place.snapshot, ())
        user = prompt("generate_user", schema=text, values="", question="")
        return Prompt(prompt("generate_system"), user)

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """What the pipeline shows, with the confidences by which a set would be selected."""
        state = asked_now(task.question, self.k, self.calls)
        done = await pipeline.run(state, self.adapt(task.tools), self.stages)
        return tuple(Proposal(each.sql, each.database, each.confidence) for each in done.candidates[: self.k])


def _sources(package: str) -> Iterator[Path]:
    kept = {".py", ".txt", ".lark", ".sql", ".json"}
    return (path for path in sorted((ROOT / package).rglob("*")) if path.suffix in kept)


FENCE = "```"
TOKENS = 200
"""Of the model's answer alone at most: what the pipeline allows a statement."""

SYSTEM = (
    "You translate questions into PostgreSQL. Answer with one SELECT statement that returns what the question asks "
    "for and nothing more. Join tables along the references (->). Where several tables are read, qualify every column."
)
"""It stays as it is when the pipeline's changes, so that the figures of different days compare."""


@dataclass(frozen=True, slots=True)
class Alone:
    """The model by itself: one greedy answer, without a grammar, a check or a repair."""

    name: str = ALONE
    lacks: str = "everything but the model"
    settings: str = ALONE

    @property
    def sources(self) -> tuple[Path, ...]:
        """This prompt, and what serves the model."""
        embedded = _sources("packages/pgparley-local")
        return (Path(__file__), ROOT / "engine" / "write" / "schema_text.py", *embedded)

    async def prepare(self, task: Task) -> None:
        """Nothing."""

    async def begins(self, task: Task) -> Prompt | None:
        """The schema."""
        return replace(_alone(task, ""), prefix="")

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """The statement that the model writes."""
        deadline = Deadline(time.monotonic() + TIMEOUT)
        asked = _alone(task, f"\n### Question\n{task.question.text}")
        completion = await task.tools.model.complete(asked, deadline=deadline, max_tokens=TOKENS)
        return (Proposal(completion.text.split(FENCE, maxsplit=1)[0].strip().rstrip(";").strip()),)


def _alone(task: Task, then: str) -> Prompt:
    if task.place is None:
        raise ValueError("the model alone is not asked without a database")
    schema, _ = schema_text(task.place.snapshot, ())
    return Prompt(SYSTEM, f"### Schema\n{schema}\n{then}", f"{FENCE}sql\n")
