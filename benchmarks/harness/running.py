"""Has systems answer questions, one at a time, and keeps what they say: a run that was cut off goes on.

Owns the order, the clock and what becomes of a failure: an error that a user would be told is an answer without
statements; an exception is one too, counted apart; a model that does not answer ends the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.harness.journal import Answer, Cost, Journal, Proposal, identity
from benchmarks.harness.machine import cpu_seconds, describe
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import Asked, QuestionSet
from benchmarks.harness.replay import Completions, Replay, file_for
from benchmarks.harness.site import Site
from benchmarks.harness.systems import System, Task
from engine.values.errors import ModelUnavailableError, NLError
from pgparley.config import load

AT_ONCE = 5
"""Questions on one database before those on the next: a model server reads a schema anew after another one."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One system on one set."""

    of: QuestionSet
    system: System
    asked: tuple[Asked, ...]
    journal: Journal[Answer]

    @classmethod
    def of_system(cls, of: QuestionSet, system: System, asked: tuple[Asked, ...], work: Path) -> Pass:
        """With the journal below `work` of what decides the answers."""
        name = f"{system.name}-{identity(f'{system.settings} {of.file}', system.sources)}.jsonl"
        return cls(of, system, asked, Journal(work / "answers" / of.name / name, Answer))

    @property
    def left(self) -> tuple[Asked, ...]:
        """What is still to be asked."""
        return tuple(each for each in self.asked if each.question.id not in self.journal.answers)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that there are to the questions of this pass, in their order."""
        known = self.journal.answers
        return tuple(known[each.question.id] for each in self.asked if each.question.id in known)


def told_plan(passes: Sequence[Pass], console: Console) -> None:
    """Says what is left to ask, and how long such questions took."""
    for each in passes:
        seconds = [answer.cost.seconds for answer in each.journal.answers.values()]
        pace = f", {sum(seconds) / len(seconds):.1f} s each so far" if seconds else ""
        line = f"{each.of.name:16s} {each.system.name:20s} {len(each.left):5d} of {len(each.asked):5d} left{pace}"
        console.print(line, highlight=False)


def in_turns(passes: Sequence[Pass]) -> list[Pass]:
    """A few questions of each database by all systems, then a few more of each.

    A run that was cut off has answered the same questions of all databases by all of them.
    """
    own: dict[tuple[str, str], list[Asked]] = {}
    every = {(one.of.name, each.question.id): each for one in passes for each in one.asked}
    for (name, _), each in every.items():
        own.setdefault((name, each.owner), []).append(each)
    rounds = range(0, max(map(len, own.values()), default=0), AT_ONCE)
    return [
        replace(one, asked=some)
        for first in rounds
        for (name, _), asked in own.items()
        for one in passes
        if one.of.name == name and (some := tuple(asked[first : first + AT_ONCE]))
    ]


@contextlib.contextmanager
def replaying(place: Site, work: Path, at_once: int = 1) -> Iterator[Replay]:
    """The site's model with every answer kept below `work`."""
    kept = Completions(file_for(work, load(None).embedded_model.path))
    try:
        yield Replay(place.tools.model, kept, at_once=at_once)
    finally:
        kept.close()


async def answered(
    passes: Sequence[Pass], place: Site, work: Path, console: Console, replay: Replay | None = None
) -> None:
    """Has what is left of the passes asked.

    With a `replay` of one model server, whose processor seconds count; else each pass of a server of its own that has
    read nothing yet, by the clock on the wall.
    """
    if not any(each.left for each in passes):
        return
    if replay is None:
        for one in (each for each in passes if each.left):
            with model_server(place.meter, work / "model.log"):
                await run(one, place.task, place.meter.take, partial(_told, one, console))
        return

    async def prepare(system: System, asked: Asked) -> Task:
        task = await place.task(asked)
        if (beginning := await system.begins(task)) is not None:
            replay.about(beginning)
        return replace(task, tools=replace(task.tools, model=replay))

    with model_server(place.meter, work / "model.log") as server:
        replay.clock = partial(cpu_seconds, (server,))
        await _warm_up(next(each for each in passes if each.left), prepare)
        for each in passes:
            await run(each, partial(prepare, each.system), replay.take, partial(_told, each, console))


async def _warm_up(one: Pass, prepare: Callable[[System, Asked], Awaitable[Task]]) -> None:
    """Answers a question for nothing, so that the first that counts is not charged for loading networks and schemas."""
    task = await prepare(one.system, one.left[0])
    await one.system.prepare(task)
    # It is asked again, and then told what becomes of it.
    with contextlib.suppress(Exception):
        await one.system.answer(task)


def _told(one: Pass, console: Console, answer: Answer) -> None:
    cost = f"{answer.cost.seconds:.1f} s, {answer.cost.calls} calls, {len(one.left)} left"
    line = f"{one.of.name} {one.system.name} {answer.id}: {cost} {answer.error or ''}"
    console.print(line, markup=False, highlight=False)


async def run(
    one: Pass,
    prepare: Callable[[Asked], Awaitable[Task]],
    take: Callable[[float], Cost],
    told: Callable[[Answer], None],
) -> None:
    """Asks what is left of a pass. `take` gives what a question cost, and is reset by the asking."""
    commit = (await asyncio.to_thread(describe)).commit
    for asked in one.left:
        task = await prepare(asked)
        await one.system.prepare(task)
        take(0.0)
        began = time.perf_counter()
        proposals, error, crashed = await failing(one.system.answer(task))
        cost = take(time.perf_counter() - began)
        answer = Answer(asked.question.id, proposals, cost, error, crashed, commit)
        one.journal.add(answer)
        told(answer)


async def failing(
    answer: Awaitable[tuple[Proposal, ...]],
) -> tuple[tuple[Proposal, ...], str | None, bool]:
    """The answer; or the error as its user would see it, and whether nobody should meet it.

    Raises `ModelUnavailableError`.
    """
    try:
        return await answer, None, False
    except ModelUnavailableError:
        raise
    except NLError as error:
        return (), f"{error.sqlstate} {error.message}", False
    except Exception as error:  # noqa: BLE001 - one question must not end hours of measuring; it is reported
        return (), f"{type(error).__name__}: {error}"[:300], True
