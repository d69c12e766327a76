"""The language model by itself, three ways: one answer, several samples, and asked again for another.

None has a grammar, a check or a repair. Owns their prompts, which begin as the pipeline's do and stay as they are when
the pipeline's change, so that the figures of different days compare.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.candidates.gateway import AMBIQT, ROOT, TIMEOUT
from benchmarks.quality.candidates.journal import Proposal
from benchmarks.quality.candidates.tasks import Task
from engine.core.deadline import Deadline
from engine.core.ports import Prompt
from engine.prompting.schema_text import schema_text

TOKENS = 200
"""Tokens of one answer at most: what the pipeline allows a statement."""

SAMPLES = 5
TEMPERATURE = 0.8
"""Of the samples."""

FENCE = "```"
SYSTEM = (
    "You translate questions into PostgreSQL. Answer with one SELECT statement that returns what the question asks "
    "for and nothing more. Join tables along the references (->). Where several tables are read, qualify every column."
)
ANOTHER = "Write a different statement: another way to understand the question, with other columns or tables."


@dataclass(frozen=True, slots=True)
class Alone:
    """One greedy answer."""

    name: str = "model_alone"
    sets: tuple[str, ...] = ("spider", *AMBIQT, "defog")

    @property
    def settings(self) -> str:
        """What of this decides answers, beside the code."""
        return self.name

    @property
    def sources(self) -> tuple[Path, ...]:
        """These prompts, and what serves the model."""
        embedded = (ROOT / "engine" / "llm" / "embedded").glob("*.py")
        return (Path(__file__), ROOT / "engine" / "prompting" / "schema_text.py", *embedded)

    async def prepare(self, task: Task) -> None:
        """Nothing."""

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """The statement that the model writes first."""
        return (Proposal(await _write(task, _prompt(task))),)


@dataclass(frozen=True, slots=True)
class Sampling(Alone):
    """Samples at a temperature; the distinct ones, the most frequent first."""

    name: str = "sampling"
    sets: tuple[str, ...] = ("spider", *AMBIQT)

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """At most `SAMPLES` statements."""
        seeds = [_seed(task.question.id, number) for number in range(SAMPLES)]
        written = await asyncio.gather(*(_write(task, _prompt(task), seed=seed) for seed in seeds))
        counts = Counter(map(_normal, written))
        first = {_normal(sql): sql for sql in reversed(written)}
        return tuple(Proposal(first[normal]) for normal, _ in counts.most_common())


@dataclass(frozen=True, slots=True)
class Diversity(Alone):
    """Greedy answers, each asked to differ from those before; the distinct ones, in the order written."""

    name: str = "forced_diversity"
    sets: tuple[str, ...] = AMBIQT

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """At most `SAMPLES` statements."""
        written: list[str] = []
        for _ in range(SAMPLES):
            written.append(await _write(task, _prompt(task, tuple(written))))
        distinct = {_normal(sql): sql for sql in reversed(written)}
        return tuple(Proposal(distinct[normal]) for normal in dict.fromkeys(map(_normal, written)))


def _prompt(task: Task, given: tuple[str, ...] = ()) -> Prompt:
    if task.place is None:
        raise ValueError("the model alone is not asked without a database")
    schema, _ = schema_text(task.place.snapshot, ())
    user = f"### Schema\n{schema}\n\n### Question\n{task.question.text}"
    if given:
        user += "\n\n### Already given\n" + "\n".join(given) + f"\n\n{ANOTHER}"
    return Prompt(SYSTEM, user, f"{FENCE}sql\n")


async def _write(task: Task, prompt: Prompt, seed: int | None = None) -> str:
    completion = await task.tools.model.complete(
        prompt,
        deadline=Deadline(time.monotonic() + TIMEOUT),
        max_tokens=TOKENS,
        temperature=0.0 if seed is None else TEMPERATURE,
        seed=seed or 0,
    )
    return completion.text.split(FENCE, maxsplit=1)[0].strip().rstrip(";").strip()


def _normal(sql: str) -> str:
    return " ".join(sql.lower().split())


def _seed(identity: str, number: int) -> int:
    return int(hashlib.sha256(f"{identity}:{number}".encode()).hexdigest()[:7], 16) + 1
