"""The engine's way to a database, as these tests take it: everything that depends on its interface is here."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from engine.guard import Allowed
from engine.guard.analyse import analyse
from engine.upstream import Databases
from engine.values.deadline import Deadline
from engine.values.errors import NLError
from engine.values.messages import Asker
from engine.values.ports import StatementError
from engine.values.settings import GuardSettings, UpstreamSettings
from schema_catalog.logins import make_login
from schema_catalog.types import EVERYONE, Database
from tests.security.arena import CATALOG, Arena

SECONDS = 20.0
"""What one call may take."""


def database(arena: Arena) -> Database:
    """The arena as a DBA registers it."""
    registered = Database("arena", arena.dsn(CATALOG), "arena", ("public",))
    return replace(registered, logins=(make_login(registered, EVERYONE),))


def asker(role: str) -> Asker:
    """Who asks, as `Databases` wants to be told."""
    return Asker(role, "arena")


class Door:
    """Asks the engine for everything that it does with a statement."""

    def __init__(self, databases: Databases, registered: Database) -> None:
        self.databases = databases
        self.database = registered

    async def explain(self, role: str, sql: str, seconds: float = SECONDS) -> str:
        """What EXPLAIN says, or the error: all that the asker may get to see."""
        try:
            plan = await self.databases.explain(self.database, asker(role), sql, _deadline(seconds))
        except (NLError, StatementError) as error:
            return _told(error)
        return repr(plan)

    async def run(self, role: str, sql: str, seconds: float = SECONDS, rows: int = 20) -> str:
        """What running says, or the error."""
        try:
            result = await self.databases.run(self.database, asker(role), sql, rows, _deadline(seconds))
        except (NLError, StatementError) as error:
            return _told(error)
        return repr(result)

    async def all_of_it(self, role: str, sql: str) -> str:
        """EXPLAIN in both forms, and the rows: all that came back."""
        try:
            plan = repr(await self.databases.plan(self.database, asker(role), sql, _deadline(SECONDS)))
        except (NLError, StatementError) as error:
            plan = _told(error)
        return "\n".join([await self.explain(role, sql), plan, await self.run(role, sql)])


@asynccontextmanager
async def opened(
    arena: Arena, settings: UpstreamSettings | None = None, guard: GuardSettings | None = None
) -> AsyncIterator[Door]:
    """A new engine's way to the arena."""
    settings = settings or UpstreamSettings(pool_size=2, statement_timeout=10, lock_timeout=1)
    databases = Databases(settings, guard)
    try:
        yield Door(databases, database(arena))
    finally:
        await databases.aclose()


def open_the_guard(patch: pytest.MonkeyPatch) -> None:
    """Lets every statement that can be described pass the first wall, so that the second stands alone."""
    patch.setattr("engine.upstream.databases.check", lambda sql, _rules: Allowed(analyse(sql)))


def _deadline(seconds: float) -> Deadline:
    return Deadline(time.monotonic() + seconds)


def _told(error: Exception) -> str:
    parts = [getattr(error, part, None) for part in ("sqlstate", "message", "detail", "hint")]
    return " / ".join(str(part) for part in parts if part)
