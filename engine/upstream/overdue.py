"""Statements that a server goes on with after their deadline: counted, shown, and bounded for each asker.

The engine does not wait for them: it hangs up. A server stops by itself at `statement_timeout`, but not inside of
what never looks (a function over constants that the planner computes, say). Owns the watch over those.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

import structlog

from engine.errors import NLError, QuotaError
from schema_catalog.types import Database

_LOOK_AGAIN = 1.0
"""Seconds between two looks at whether they still run."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class Statement:
    """One that outlived its deadline. `pid`: of its server process, `role`: under which it logged in."""

    database: Database
    asker: str
    role: str
    pid: int


Running = Callable[[Database, Collection[Statement]], Awaitable[frozenset[int]]]
"""Gives the process ids of those that still run."""


class Overdue:
    """The statements of all askers. `most`: of one asker on one database."""

    def __init__(self, running: Running, *, most: int) -> None:
        self._running = running
        self._most = most
        self._statements: set[Statement] = set()
        self._watching: dict[Database, asyncio.Task[None]] = {}

    @property
    def count(self) -> int:
        """How many there are now."""
        return len(self._statements)

    def add(self, statement: Statement) -> None:
        """One was left behind just now."""
        self._statements.add(statement)
        database = statement.database
        log.warning("statement overdue", database=database.name, asker=statement.asker, pid=statement.pid)
        if database not in self._watching:
            name = f"overdue statements of {database.name}"
            self._watching[database] = asyncio.create_task(self._watch(database), name=name)

    def refuse(self, database: Database, asker: str) -> None:
        """Raises `QuotaError` where too many of the asker's still run."""
        own = sum(each.database == database and each.asker == asker for each in self._statements)
        if own >= self._most:
            raise QuotaError(
                f"{own} earlier statements of yours still run on {database.name}",
                detail="The server has not stopped them at their deadline.",
                hint="Ask again when they have ended; an administrator can end them by pg_terminate_backend.",
            )

    async def _watch(self, database: Database) -> None:
        while here := {each for each in self._statements if each.database == database}:
            await asyncio.sleep(_LOOK_AGAIN)
            try:
                running = await self._running(database, here)
            except NLError:
                # Nobody can say: they count until somebody can.
                continue
            self._statements -= {each for each in here if each.pid not in running}
        del self._watching[database]

    async def aclose(self) -> None:
        """Watches no more."""
        for task in self._watching.values():
            task.cancel()
        await asyncio.gather(*self._watching.values(), return_exceptions=True)
