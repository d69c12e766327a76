"""Who answers: pgparley with the database given, and its model alone, both over a model whose replies are kept."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.quality.ablations.arms import ARMS, Trial
from benchmarks.quality.ablations.replay import Replay
from benchmarks.quality.candidates.alone import SYSTEM, Alone
from benchmarks.quality.candidates.journal import Journal, Proposal, identity
from benchmarks.quality.candidates.questions import Asked, Question
from benchmarks.quality.candidates.running import Pass
from benchmarks.quality.candidates.tasks import System, Task
from benchmarks.real.databases import RESHAPED
from benchmarks.real.questions import RealQuestion
from engine.core.ports import Prompt
from engine.prompting.schema_text import schema_text

WHOLE, ALONE = "pgparley", "model_alone"

AT_ONCE = 5
"""Questions on one database before those on the next."""


@dataclass(frozen=True, slots=True)
class ReplayedAlone(Alone):
    """The model's one greedy answer, kept as the pipeline's are."""

    replay: Replay = field(kw_only=True)

    async def prepare(self, task: Task) -> None:
        """Names what the prompts begin like."""
        if task.place is not None:
            schema, _ = schema_text(task.place.snapshot, ())
            self.replay.about(Prompt(SYSTEM, f"### Schema\n{schema}\n"))

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """As `Alone.answer`."""
        return await Alone().answer(replace(task, tools=replace(task.tools, model=self.replay)))


def passes(work: Path, questions: Sequence[RealQuestion], k: int, replay: Replay) -> tuple[Pass, ...]:
    """Both systems on these questions; a journal belongs to the system's code, the data and the questions' texts."""
    asked = tuple(Asked(Question(each.id, each.text, each.database)) for each in questions)
    systems: dict[str, System] = {WHOLE: Trial.of(ARMS[0], k, replay), ALONE: ReplayedAlone(replay=replay)}
    data = [each.digest() for each in RESHAPED]
    made = []
    for name, system in systems.items():
        settings = f"{system.settings} {_digest([data, [[each.id, each.text] for each in questions]])}"
        file = f"{name}-{identity(settings, system.sources)}.jsonl"
        made.append(Pass(name, system, asked, Journal(work / "answers" / file)))
    return tuple(made)


def in_turns(asked: Sequence[Asked]) -> tuple[tuple[Asked, ...], ...]:
    """A few questions of each database, then a few more of each: a run that was cut off has answered of all of them.

    A few at a time, for a model server reads a schema anew after another one.
    """
    own: dict[str | None, list[Asked]] = defaultdict(list)
    for each in asked:
        own[each.question.database].append(each)
    rounds = range(0, max(map(len, own.values()), default=0), AT_ONCE)
    parts = (tuple(some[first : first + AT_ONCE]) for first in rounds for some in own.values())
    return tuple(part for part in parts if part)


def _digest(told: list[object]) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
