"""A follow-up asked in its dialogue, as a session asks it: taken for one or not, read, and answered by the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.harness.journal import Proposal
from benchmarks.harness.systems import Gateway, Task, asked_now
from benchmarks.quality.followups.turns import Said, Turn
from engine.app import pipeline
from engine.ask.understand import understand
from engine.values.dialogue import Dialogue, FollowUp
from engine.values.ports import Prompt
from engine.values.state import State
from engine.values.tools import Tools


async def in_dialogue(state: State, before: tuple[Said, ...], tools: Tools) -> State:
    """`state` with what it goes on from, each turn before read as a session would have."""
    state = replace(state, strategy=tools.strategy)
    asked = state.question
    if not before or not (asked.maybe_goes_on if state.asks_for_readings else asked.goes_on):
        return state
    *earlier, last = before
    read = replace(state, question=replace(asked, text=last.text))
    read = await understand(await in_dialogue(read, tuple(earlier), tools), tools)
    follow_up = FollowUp(read.question.text, last.sql, asked.text)
    return replace(state, dialogue=Dialogue(follow_up=follow_up), usage=read.usage)


@dataclass(frozen=True, slots=True)
class InDialogue:
    """`benchmarks.harness.systems.System`: `whole`, with the dialogue of each question by its id."""

    whole: Gateway
    turns: Mapping[str, Turn]
    name: str = "in_dialogue"
    lacks: str = "the question in full"

    @property
    def settings(self) -> str:
        """See `Gateway.settings`."""
        return f"{self.name} {self.whole.settings}"

    @property
    def sources(self) -> tuple[Path, ...]:
        """See `Gateway.sources`."""
        return (Path(__file__), Path(__file__).with_name("turns.py"), *self.whole.sources)

    async def prepare(self, task: Task) -> None:
        """See `Gateway.prepare`."""
        await self.whole.prepare(task)

    async def begins(self, task: Task) -> Prompt | None:
        """See `Gateway.begins`."""
        return await self.whole.begins(task)

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """What the pipeline shows."""
        begun = asked_now(task.question, self.whole.k)
        begun = await in_dialogue(begun, self.turns[task.question.id].before, task.tools)
        done = await pipeline.run(begun, task.tools, self.whole.stages)
        return tuple(Proposal(each.sql, each.database, each.confidence) for each in done.candidates)
