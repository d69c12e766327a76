"""What an engine does at once, and what it does by itself, in rounds.

Of rounds a failure is told once, tried again less often, and its end is told.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

import structlog

from engine.values.errors import for_log

T = TypeVar("T")


async def all_of(parts: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each gives, all at once; the first error is raised, and the others are cancelled: none runs on behind it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in parts]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [each.result() for each in tasks]


LONGEST_PAUSE = 30.0
"""Seconds until a store that is away is tried again, at most."""

log = structlog.stdlib.get_logger("engine")


class Background:
    """The rounds of an engine's tasks, by the task's name. `clock`: in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = 0.0
        self._failing: dict[str, tuple[str, int]] = {}

    async def repeat(self, task: str, usual: float, step: Callable[[], Awaitable[object]]) -> None:
        """Takes `step` after `step`, `usual` seconds in between, until cancelled; what one raises costs one round."""
        while True:
            try:
                await step()
                self.worked(task)
            except Exception as problem:  # noqa: BLE001 - never the engine
                self.failed(task, problem)
            await asyncio.sleep(self.pause(task, usual))

    def failed(self, task: str, problem: BaseException) -> None:
        """A round of `task` failed. What another one met meanwhile, such as a store that is away, is not told again."""
        if not self._failing:
            self._since = self._clock()
        told, before = for_log(problem), self._failing.get(task, ("", 0))
        if told not in (known for known, _ in self._failing.values()):
            log.warning("background task failed", task=task, problem=told, again="less and less often")
        self._failing[task] = (told, before[1] + 1)

    def worked(self, task: str) -> None:
        """A round of `task` went well."""
        if self._failing.pop(task, None) is not None and not self._failing:
            log.info("background tasks work again", seconds=round(self._clock() - self._since))

    def pause(self, task: str, usual: float) -> float:
        """Seconds until the next round: `usual`, and twice as many after each failure, `LONGEST_PAUSE` at most."""
        _, failures = self._failing.get(task, ("", 0))
        return max(usual, min(usual * 2.0 ** min(failures, 16), LONGEST_PAUSE)) if failures else usual
