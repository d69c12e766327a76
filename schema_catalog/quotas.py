"""How many questions an asker may ask, and tokens use: counted in the store, so that all engines count together.

Owns the SQL of it (`sql/`, tables `quota`, `token_budget`, `token_use`); whose quota and budget count is decided there.
Does not know what a question is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from schema_catalog.catalog import SECONDS, StoreUnavailableError
from schema_catalog.pg import Pool


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No further question now. `again_at`: from when on there is room; None where `questions_an_hour` is 0."""

    questions_an_hour: int
    again_at: datetime | None


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """No further question today. `anew_at`: when the next day begins; None where `tokens_a_day` is 0."""

    tokens_a_day: int
    used: int
    anew_at: datetime | None


class QuotaStore:
    """The quotas and budgets of all roles. Every method raises `StoreUnavailableError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def admit(self, asker: str) -> Exhausted | BudgetSpent | None:
        """Counts a question of `asker`'s, unless their quota or budget leaves no room for it."""
        row = await self._row("SELECT * FROM pgparley.admit_within_budget($1)", asker)
        budget, used, anew_at, most, spent, again_at = row
        if budget is not None and used >= budget:
            return BudgetSpent(budget, used, anew_at)
        return None if most is None or spent < most else Exhausted(most, again_at)

    async def spend(self, asker: str, *, prefilled: int, cached: int, generated: int) -> None:
        """Adds the tokens of one question of `asker`'s to their day."""
        await self._row("SELECT pgparley.spend_tokens($1, $2, $3, $4)", asker, prefilled, cached, generated)

    async def _row(self, sql: str, *values: object) -> asyncpg.Record:
        try:
            async with asyncio.timeout(SECONDS):
                [row] = await self._pool.fetch(sql, *values)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailableError("the store of quotas does not answer") from error
        return row
