"""Asks systems questions, one at a time, and keeps what they answer.

Owns the order, the clock and what becomes of a failure: an error that a user would be told is an answer without
statements; an exception is one too, counted apart; a model that does not answer ends the run, which can be taken up
again.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from benchmarks.quality.candidates.journal import Answer, Cost, Journal, Proposal
from benchmarks.quality.candidates.questions import Asked
from benchmarks.quality.candidates.tasks import System, Task
from engine.errors import ModelUnavailableError, NLError

ASSUMED = 10.0
"""Seconds a question where nothing was measured yet."""

ENOUGH = 3
"""Answers that make a measured pace."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One system on one set. `assumed`: seconds a question, until enough were measured."""

    set_name: str
    system: System
    asked: tuple[Asked, ...]
    journal: Journal
    assumed: float = ASSUMED

    @property
    def left(self) -> tuple[Asked, ...]:
        """What is still to be asked."""
        return tuple(each for each in self.asked if each.question.id not in self.journal.answers)

    @property
    def pace(self) -> tuple[float, bool]:
        """Seconds a question, and whether that was measured."""
        seconds = [answer.cost.seconds for answer in self.journal.answers.values()]
        measured = len(seconds) >= ENOUGH
        return (sum(seconds) / len(seconds), True) if measured else (self.assumed, False)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that there are to the questions of this pass, in their order."""
        known = self.journal.answers
        return tuple(known[each.question.id] for each in self.asked if each.question.id in known)


async def run(
    one: Pass,
    prepare: Callable[[Asked], Awaitable[Task]],
    take: Callable[[float], Cost],
    commit: str,
    told: Callable[[Answer], None],
) -> None:
    """Asks what is left of a pass. `take` gives what a question cost, and is reset by the asking."""
    for asked in one.left:
        task = await prepare(asked)
        await one.system.prepare(task)
        take(0.0)
        began = time.perf_counter()
        proposals, error, crashed = await _answer(one.system, task)
        cost = take(time.perf_counter() - began)
        answer = Answer(asked.question.id, tuple(proposals), cost, error, crashed, commit)
        one.journal.add(answer)
        told(answer)


async def _answer(system: System, task: Task) -> tuple[Sequence[Proposal], str | None, bool]:
    try:
        return await system.answer(task), None, False
    except ModelUnavailableError:
        raise
    except NLError as error:
        return (), f"{error.sqlstate} {error.message}", False
    except Exception as error:  # noqa: BLE001 - one question must not end hours of measuring; it is reported
        return (), f"{type(error).__name__}: {error}"[:300], True
