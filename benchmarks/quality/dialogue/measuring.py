"""Has the questions of sets talked about by each system, and keeps every dialogue: a run that was cut off goes on.

Owns the passes, what a dialogue is handed, and what becomes of its outcome. Judging for the user who rejects is the
benchmark's scorer's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.harness.command import Options
from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.journal import Journal, identity
from benchmarks.harness.questions import Asked, Selection, asked
from benchmarks.harness.replay import Replay
from benchmarks.harness.scorer import Verdicts
from benchmarks.harness.site import Site
from benchmarks.harness.systems import READER, TIMEOUT, Gateway, Task
from benchmarks.quality.dialogue.conversation import ASKER, Listener, converse
from benchmarks.quality.dialogue.intent import intent, reading_of
from benchmarks.quality.dialogue.records import Conversation
from benchmarks.quality.dialogue.simulated_user import SimulatedUser
from benchmarks.quality.dialogue.systems import DIALOGUE, DialogueSet, System
from engine.app.question_store import Questions
from engine.app.service import Service
from engine.values.dialogue import Dialogue
from engine.values.messages import AnswerRequest, AskReply, AskRequest, NoneRequest
from engine.values.settings import Limits
from engine.values.tools import Tools
from schema_catalog.pg import Pool

_DECIDING = ("conversation.py", "intent.py", "measuring.py", "preview_match.py", "simulated_user.py")
"""The files here that decide what is said, beside the engine's."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One system on one set. `items`: the benchmark's, by question."""

    of: DialogueSet
    system: System
    asked: tuple[Asked, ...]
    items: Mapping[str, Item]
    journal: Journal[Conversation]

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
    def owners(self) -> dict[str, str]:
        """The database of each question; of AmbiQT's the one that was made ambiguous."""
        return {each.question.id: each.owner for each in self.asked}


def passes(of: DialogueSet, systems: Sequence[System], options: Options) -> list[Pass]:
    """A pass for each system; where the first reply is all, for the one that may ask back alone."""
    selection = Selection(options.n or of.n, options.seed, options.half, skip=of.looked_at)
    questions = asked(options.bench, of.questions, selection)
    items = {item["id"]: item for item in read_items(options.bench / of.questions.file)}
    sources = (*Gateway(of.name, options.k).sources, *(Path(__file__).with_name(each) for each in _DECIDING))
    made = []
    for system in systems:
        if of.first_reply and system != DIALOGUE:
            continue
        name = identity(f"{system} k={options.k} seed={options.seed}", sources)
        path = options.work / "dialogues" / of.name / f"{system.name}-{name}.jsonl"
        made.append(Pass(of, system, questions, items, Journal(path, Conversation)))
    return made


class ServiceEngine:
    """Implements `benchmarks.quality.dialogue.conversation.Engine`. Nothing is learned from what is said."""

    def __init__(self, system: System, tools: Tools, pool: Pool) -> None:
        limits = Limits(timeout=TIMEOUT)
        self._questions = Questions(pool)
        self._service = Service(replace(tools, dialogue=system.settings), self._questions, limits)

    async def ask(self, request: AskRequest) -> AskReply:
        """See `Service.ask`."""
        return await self._service.ask(request)

    async def answer(self, request: AnswerRequest) -> AskReply:
        """See `Service.answer`."""
        return await self._service.answer(request)

    async def none(self, request: NoneRequest) -> AskReply:
        """See `Service.none`."""
        return await self._service.none(request)

    async def dialogue(self, qid: str) -> Dialogue:
        """What has been said under that reply."""
        return (await self._questions.stored(qid, READER)).dialogue


@dataclass(frozen=True, slots=True)
class Measuring:
    """What dialogues are made with."""

    place: Site
    replay: Replay
    verdicts: Verdicts
    seed: int
    k: int
    commit: str

    async def measure(self, one: Pass, told: Callable[[Conversation], None]) -> None:
        """Talks about what is left of a pass."""
        system = Gateway(one.of.name, self.k)
        for each in one.left:
            task = await self.place.task(each)
            if (beginning := await system.begins(task)) is not None:
                self.replay.about(beginning)
            await system.prepare(task)
            conversation = await self._conversation(one, each, task)
            one.journal.add(conversation)
            told(conversation)

    async def _conversation(self, one: Pass, each: Asked, task: Task) -> Conversation:
        question, item = each.question, one.items[each.question.id]
        reading = reading_of(item, one.of.questions, self.seed)
        listener = await self._listener(one, task, item, reading)
        ask = AskRequest(ASKER, question.text, k=self.k, db=question.database, ask=one.system.asks)
        engine = ServiceEngine(one.system, replace(task.tools, model=self.replay), self.place.pool)
        ended = await converse(engine, ask, one.system, listener, lambda: self.replay.take(0.0))
        return Conversation(
            *(question.id, one.of.name, one.system.name, reading),
            *(ended.turns, ended.error, ended.crashed, self.commit),
        )

    async def _listener(self, one: Pass, task: Task, item: Item, reading: int) -> Listener:
        of = one.of.questions

        async def right(sql: str) -> bool:
            await asyncio.to_thread(self.verdicts.judge, of, {item["id"]: [sql]})
            return self.verdicts.right(of, item["id"], sql)[reading - 1]

        if one.of.first_reply or task.place is None:
            return Listener(None, right)
        meant = await intent(item, reading, task.place, task.tools.upstream)
        return Listener(SimulatedUser(meant, f"{self.seed}:{item['id']}", one.system.errs), right)
