"""How many questions an asker may ask: counted in the store, so that all engines count together.

Owns the SQL of it (`sql/`, table `quota`); whose quota counts is decided there. Does not know what a question is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.pg import Pool


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No further question now. `again_at`: from when on there is room; None where `questions_an_hour` is 0."""

    questions_an_hour: int
    again_at: datetime | None


class QuotaStore:
    """The quotas of all roles. `timeout`: seconds that the store may take."""

    def __init__(self, pool: Pool, *, timeout: float = 5.0) -> None:
        self._pool = pool
        self._timeout = timeout

    async def admit(self, asker: str) -> Exhausted | None:
        """Counts a question of `asker`'s, unless their quota is exhausted; raises `StoreUnavailableError`."""
        try:
            async with asyncio.timeout(self._timeout):
                [row] = await self._pool.fetch("SELECT * FROM pgparley.admit($1)", asker)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailableError("the store of quotas does not answer") from error
        most, spent, again_at = row
        return None if most is None or spent < most else Exhausted(most, again_at)
