"""How much askers may ask, and what their questions use: counted in the store, so that all engines count together.

Owns the SQL of it (`sql/`, tables `quota`, `asked`, `token_use`); whose limits count is decided there. Does not know
what a question is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import asyncpg

from schema_catalog.catalog import SECONDS, StoreUnavailableError
from schema_catalog.pg import Pool


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No further question now. `person`: whose limit it is, behind the role; empty: the role's.

    `what`: `questions_an_hour`, or `tokens` or `money`, `_a_day` or `_a_month`, of which `most` are allowed.
    `again_at`: from when on there is room; None where there is none ever.
    """

    person: str
    what: str
    most: Decimal
    used: Decimal
    again_at: datetime | None


class QuotaStore:
    """The quotas and budgets of all roles. Every method raises `StoreUnavailableError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def admit(self, role: str, person: str) -> Exhausted | None:
        """Counts a question of `role`, for `person`, unless a limit of either leaves no room for it."""
        row = await self._row("SELECT * FROM pgparley.admit($1, $2)", role, person)
        return None if row["what"] is None else Exhausted(*row)

    async def spend(self, role: str, person: str, tokens: tuple[int, int, int], money: float) -> None:
        """Adds what one question cost to their day. `tokens`: prefilled, from the cache, generated."""
        sql = "SELECT pgparley.spend_tokens($1, $2, $3, $4, $5, $6)"
        await self._row(sql, role, person, *tokens, money)

    async def _row(self, sql: str, *values: object) -> asyncpg.Record:
        try:
            async with asyncio.timeout(SECONDS):
                [row] = await self._pool.fetch(sql, *values)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailableError("the store of quotas does not answer") from error
        return row
