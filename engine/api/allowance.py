"""What an asker may still ask today and in this hour, by the store's count, in words that help; and adding to it.

Owns the refusals' words. What counts and for whom is `schema_catalog.quotas`'; places and queue are
`engine.api.admission`'s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from engine.errors import NLError, NotPermittedError, QuotaError, for_log
from engine.types import Usage
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.quotas import BudgetSpent, Exhausted, QuotaStore

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class Allowance:
    """Of all askers of one store."""

    quotas: QuotaStore

    async def admit(self, asker: str) -> None:
        """Counts a question; raises `QuotaError`, `NotPermittedError` and `StoreUnavailableError`."""
        refusal = await self.quotas.admit(asker)
        match refusal:
            case Exhausted():
                raise _questions(asker, refusal)
            case BudgetSpent():
                raise _tokens(asker, refusal)

    async def spend(self, asker: str, usage: Usage) -> None:
        """Adds what a question cost. A store that does not answer then loses that, and not the question."""
        if not usage.calls:
            return
        try:
            await self.quotas.spend(
                asker, prefilled=usage.prefilled, cached=usage.cached, generated=usage.generated
            )
        except StoreUnavailableError as problem:
            tokens = usage.prefilled + usage.generated
            log.warning("tokens not counted", user=asker, tokens=tokens, problem=for_log(problem))


def _questions(asker: str, exhausted: Exhausted) -> NLError:
    quota = f'The quota of "{asker}" is {exhausted.questions_an_hour} questions an hour.'
    if exhausted.again_at is None:
        return _never(quota, "set_quota")
    return QuotaError(
        "you have asked as many questions as you may in an hour",
        detail=quota,
        hint=f"Ask again at {_when(exhausted.again_at)}, or ask an nl_admin for more: nl_catalog.set_quota().",
    )


def _tokens(asker: str, spent: BudgetSpent) -> NLError:
    if spent.anew_at is None:
        return _never(f'The budget of "{asker}" is 0 tokens a day.', "set_token_budget")
    return QuotaError(
        "your questions have used the language model as much as they may in a day",
        detail=f'They have used {spent.used} tokens today; the budget of "{asker}" is {spent.tokens_a_day} a day.',
        hint=f"It begins anew at {_when(spent.anew_at)}; or ask an nl_admin for more:"
        " nl_catalog.set_token_budget().",
    )


def _never(detail: str, function: str) -> NLError:
    return NotPermittedError(
        "you may not ask questions",
        detail=detail,
        hint=f"An nl_admin says who may ask: nl_catalog.{function}(). Plain SQL is not affected.",
    )


def _when(at: datetime) -> str:
    """In UTC, and how long that is from now."""
    minutes = max(1, math.ceil((at - datetime.now(UTC)).total_seconds() / 60))
    return f"{at.astimezone(UTC):%H:%M:%S} UTC, in {minutes} minutes"
