"""Statements that outlive their deadline on a server, and the limits that their askers have afterwards.

The engine does not wait for a statement at its deadline: it closes the connection. A server stops by itself at
`statement_timeout`, but not inside code that never checks for interrupts (a function over constants that the planner
computes, for example). Such statements are counted, shown, and bounded for each asker. For a while after a statement
of theirs ran out of time, askers share one lane for each database: one statement at a time, and none while one there
is overdue. So expensive statements delay each other, and nobody else's.

What the engine tries for a question is counted apart from what its asker chooses to run: neither refuses or delays the
other. Where too much of what was tried still runs, the next one waits for its end, as long as its question may.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from engine.upstream.access import Access
from engine.values import wording
from engine.values.deadline import Deadline
from engine.values.errors import NLError, QuotaError, for_log
from engine.values.ports import StatementError
from schema_catalog.types import Database

SLOW_SECONDS = 60.0
"""How long an asker has the slow lane after a statement that ran out of time."""

_LOOK_AGAIN = 1.0
"""Seconds between two looks at whether overdue statements still run."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that outlived its deadline. `pid`: of its server process. `chosen`: its asker wanted it run."""

    access: Access
    pid: int
    chosen: bool


Running = Callable[[Database, Collection[Statement]], Awaitable[frozenset[int]]]
"""Returns the process ids of those that still run, after trying to end them."""


class Overdue:
    """The statements of all askers. `most`: of one asker on one database. `clock`: monotonic, in seconds."""

    def __init__(self, running: Running, clock: Callable[[], float], *, most: int) -> None:
        self._running = running
        self._clock = clock
        self._most = most
        self._statements: set[Statement] = set()
        self._watching: dict[Database, asyncio.Task[None]] = {}
        self._slow: dict[tuple[str, bool], float] = {}
        self._lanes: dict[Database, asyncio.Lock] = {}
        self._ended = asyncio.Condition()

    @property
    def count(self) -> int:
        """The number of overdue statements."""
        return len(self._statements)

    # -- turns

    @asynccontextmanager
    async def turn(self, access: Access, deadline: Deadline, *, chosen: bool) -> AsyncIterator[None]:
        """Waits until a statement may run, which runs inside the block.

        Raises `QuotaError` where too many still run that its asker has `chosen`, `TimeoutError` where what is waited
        for took too long.
        """
        database, whose = access.database, (access.asker, chosen)
        await self._bounded(access, deadline, chosen=chosen)
        if self._slow.get(whose, 0.0) <= self._clock():
            self._slow.pop(whose, None)
            yield
            return
        lane = self._lanes.setdefault(database, asyncio.Lock())
        async with asyncio.timeout(deadline.remaining()):
            await lane.acquire()
        try:
            async with asyncio.timeout(deadline.remaining()), self._ended:
                await self._ended.wait_for(lambda: not self._of(database))
            yield
        finally:
            lane.release()

    def ran_out(self, asker: str, *, chosen: bool) -> None:
        """Puts `asker`, a statement of whose ran out of time, in the slow lane for `SLOW_SECONDS`."""
        self._slow[asker, chosen] = self._clock() + SLOW_SECONDS

    async def _bounded(self, access: Access, deadline: Deadline, *, chosen: bool) -> None:
        """Not more than `most` of the asker's on the database: of what is `chosen` by an error, else by waiting."""

        def own() -> int:
            here = self._of(access.database)
            return sum(each.access.asker == access.asker and each.chosen is chosen for each in here)

        if own() < self._most:
            return
        if chosen:
            raise QuotaError.told(wording.STILL_RUN, count=own(), name=access.database.name)
        async with asyncio.timeout(deadline.remaining()), self._ended:
            await self._ended.wait_for(lambda: own() < self._most)

    def _of(self, database: Database) -> set[Statement]:
        return {each for each in self._statements if each.access.database == database}

    # -- overdue statements

    def add(self, statement: Statement) -> None:
        """Counts a statement from now on, until the server has ended it."""
        self._statements.add(statement)
        database, asker = statement.access.database, statement.access.asker
        log.warning("statement overdue", database=database.name, asker=asker, pid=statement.pid)
        if database not in self._watching:
            name = f"overdue statements of {database.name}"
            self._watching[database] = asyncio.create_task(self._watch(database), name=name)

    async def _watch(self, database: Database) -> None:
        while here := self._of(database):
            await asyncio.sleep(_LOOK_AGAIN)
            try:
                running = await self._running(database, here)
            except (NLError, StatementError) as error:
                # Unknown is not ended: they count until a look succeeds.
                log.warning("overdue statements unknown", database=database.name, error=for_log(error))
                continue
            self._statements -= {each for each in here if each.pid not in running}
            async with self._ended:
                self._ended.notify_all()
        del self._watching[database]

    async def aclose(self) -> None:
        """Ends the watching tasks."""
        for task in self._watching.values():
            task.cancel()
        await asyncio.gather(*self._watching.values(), return_exceptions=True)
