"""The tasks of one worker: named, kept until they end, and ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import structlog


class Tasks:
    """The tasks that run beside the connections."""

    def __init__(self, log: structlog.typing.FilteringBoundLogger) -> None:
        self._log = log
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs `work` as a task that is kept until it ends; a failure is logged."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("task_failed", task=task.get_name(), exc_info=error)

    async def end(self) -> None:
        """Cancels all and waits until they have ended."""
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
