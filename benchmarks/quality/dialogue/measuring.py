"""Has the questions of sets talked about by each system, and keeps every dialogue: a run that was cut off goes on.

Owns the passes, what a dialogue is handed, and what becomes of its outcome. Judging for the user who rejects is the
benchmark's scorer's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.ablations.arms import ARMS, Trial
from benchmarks.quality.ablations.drawing import drawn
from benchmarks.quality.ablations.replay import Replay
from benchmarks.quality.candidates.gateway import Gateway
from benchmarks.quality.candidates.journal import JournalOf, identity
from benchmarks.quality.candidates.questions import Asked, Item, Selection, read_items
from benchmarks.quality.candidates.site import Site
from benchmarks.quality.candidates.tasks import Task
from benchmarks.quality.dialogue.conversation import ASKER, Ended, Listener, converse
from benchmarks.quality.dialogue.intent import intent, reading_of
from benchmarks.quality.dialogue.records import Conversation
from benchmarks.quality.dialogue.service_engine import NothingRecorded, ServiceEngine
from benchmarks.quality.dialogue.simulated_user import SimulatedUser
from benchmarks.quality.dialogue.systems import DIALOGUE, DialogueSet, System
from benchmarks.quality.dialogue.verdicts import Verdicts
from engine.errors import ModelUnavailableError
from engine.types import AskRequest

_DECIDING = (
    "conversation.py",
    "intent.py",
    "measuring.py",
    "preview_match.py",
    "service_engine.py",
    "simulated_user.py",
)
"""The files here that decide what is said, beside the engine's."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One system on one set. `items`: the benchmark's, by question."""

    of: DialogueSet
    system: System
    asked: tuple[Asked, ...]
    items: Mapping[str, Item]
    journal: JournalOf[Conversation]

    @property
    def left(self) -> tuple[Asked, ...]:
        """What is still to be talked about."""
        return tuple(each for each in self.asked if each.question.id not in self.journal.answers)

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """The dialogues that there are, in the questions' order."""
        known = self.journal.answers
        return tuple(known[each.question.id] for each in self.asked if each.question.id in known)

    @property
    def databases(self) -> dict[str, str]:
        """The database of each question; of AmbiQT's the one that was made ambiguous."""
        return {key: str(item["db"]) for key, item in self.items.items()}


@dataclass(frozen=True, slots=True)
class Setting:
    """Where questions are read and answers kept; which questions, and how many candidates each."""

    bench: Path
    work: Path
    selection: Selection
    k: int


def passes(of: DialogueSet, systems: Sequence[System], setting: Setting) -> list[Pass]:
    """A pass for each system; where the first reply is all, for the one that may ask back alone."""
    asked = drawn(setting.bench, of.questions, setting.selection)
    items = {item["id"]: item for item in read_items(setting.bench / of.questions.file)}
    engine = Gateway(of.name, setting.k, setting.k).sources
    own = tuple(Path(__file__).with_name(name) for name in _DECIDING)
    made = []
    for system in systems:
        if of.first_reply and system != DIALOGUE:
            continue
        name = identity(f"{system} k={setting.k} seed={setting.selection.seed}", (*engine, *own))
        path = setting.work / "dialogues" / of.name / f"{system.name}-{name}.jsonl"
        made.append(Pass(of, system, asked, items, JournalOf(path, Conversation)))
    return made


@dataclass(frozen=True, slots=True)
class Measuring:
    """What dialogues are made with. `missing`: counts calls that are not recorded, where only those may be used."""

    place: Site
    replay: Replay
    verdicts: Verdicts
    seed: int
    k: int
    commit: str
    missing: NothingRecorded | None = None

    async def measure(self, one: Pass, told: Callable[[Conversation | None], None]) -> None:
        """Talks about what is left of a pass; `told` of each dialogue, None for one that is not recorded."""
        trial = Trial.of(ARMS[0], self.k, self.replay)
        for asked in one.left:
            task = await self.place.task(asked)
            await trial.prepare(task)
            conversation = await self._conversation(one, asked, task)
            if conversation is not None:
                one.journal.add(conversation)
            told(conversation)

    async def _conversation(self, one: Pass, asked: Asked, task: Task) -> Conversation | None:
        identity, item = asked.question.id, one.items[asked.question.id]
        reading = reading_of(item, one.of.questions, self.seed)
        listener = await self._listener(one, task, item, reading)
        question = asked.question
        ask = AskRequest(ASKER, question.text, k=self.k, db=question.database, ask=one.system.asks)
        engine = ServiceEngine(one.system, task, self.replay, self.place.pool)
        if self.missing is not None:
            self.missing.missed = 0
        try:
            ended = await converse(engine, ask, one.system, listener, lambda: self.replay.take(0.0))
        except ModelUnavailableError as error:
            if self.missing is None:
                raise
            ended = Ended((), error.message)
        if self.missing is not None and self.missing.missed:
            return None
        return Conversation(
            identity,
            one.of.name,
            one.system.name,
            reading,
            ended.turns,
            ended.error,
            ended.crashed,
            self.commit,
        )

    async def _listener(self, one: Pass, task: Task, item: Item, reading: int) -> Listener:
        of = one.of.questions

        async def right(sql: str) -> bool:
            await asyncio.to_thread(self.verdicts.judge, of, {item["id"]: [sql]})
            return self.verdicts.right(of, item["id"], sql, reading)

        if one.of.first_reply or task.place is None:
            return Listener(None, right)
        meant = await intent(item, reading, task.place, task.tools.upstream)
        return Listener(SimulatedUser(meant, f"{self.seed}:{item['id']}", one.system.errs), right)
