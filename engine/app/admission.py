"""Who may ask now: quotas, places and the queue.

What an asker may still ask today and in this hour, by the store's count, in words that help; and adding to it. What
counts and for whom is `schema_catalog.quotas`'.

Which question is answered next, where more are asked at once than the engine answers: a place is free, or the question
waits, and the roles that wait get places in turn. Who asks a hundred questions keeps nobody else waiting for more than
one of them. A question that waits is told its place; one that would wait longer than its own time is refused at once.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from engine.values.errors import BusyError, NLError, NotPermittedError, QuotaError, for_log
from engine.values.messages import Usage
from engine.values.queue_place import teller
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


ASSUMED_SECONDS = 5.0
"""What a question takes, until one was answered."""

_RECENT = 0.1
"""What the newest question counts in the mean of what questions take."""


TOLD_AFTER = 0.25
"""Seconds that a question waits before it is told its place, and from one look at its place to the next."""


class Admission:
    """The places of one engine. Not for several event loops."""

    def __init__(self, places: int) -> None:
        """`places`: questions answered at once."""
        self._places = places
        self._taken = 0
        self._seconds = ASSUMED_SECONDS
        self._answered = 0
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        """Of each role that waits; the role whose turn it is comes first."""

    @property
    def running(self) -> int:
        """Questions that are being answered."""
        return self._taken

    @property
    def waiting(self) -> int:
        """Questions that wait for a place."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def place(self, role: str, seconds: float) -> AsyncIterator[None]:
        """Holds a place for a question of `role`, which has `seconds` in all.

        Raises `BusyError` where it gets none in time.
        """
        await self._enter(role, seconds)
        began = time.monotonic()
        try:
            yield
        finally:
            self._answered += 1
            newest = max(_RECENT, 1 / self._answered)
            self._seconds += newest * (time.monotonic() - began - self._seconds)
            self._leave()

    async def _enter(self, role: str, seconds: float) -> None:
        if self._taken < self._places:
            self._taken += 1
            return
        own = self._queues.get(role, ())
        if self._until_turn(role, len(own)) >= seconds:
            raise self._busy(role)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(role, deque()).append(mine)
        try:
            async with asyncio.timeout(seconds):
                await self._turn(role, mine)
        except BaseException as ended:
            if mine.done():
                self._leave()
            else:
                self._forget(role, mine)
            if isinstance(ended, TimeoutError):
                raise self._busy(role) from None
            raise

    async def _turn(self, role: str, mine: asyncio.Future[None]) -> None:
        """Waits for it, and tells the place meanwhile."""
        told = None
        while not (await asyncio.wait({mine}, timeout=TOLD_AFTER))[0]:
            place = self._before(role, self._queues[role].index(mine))
            if place != told:
                told = place
                await teller.get()(place)
        if told is not None:
            await teller.get()(None)

    def _before(self, role: str, own: int) -> int:
        """Questions that begin before the one of `role` with `own` before it: each round is one of each role."""
        before, passed = own, False
        for name, queue in self._queues.items():
            passed = passed or name == role
            before += 0 if name == role else min(len(queue), own + (not passed))
        return before

    def _until_turn(self, role: str, own: int) -> float:
        """Seconds, if nobody else comes."""
        return (self._before(role, own) + 1) / self._places * self._seconds

    def _leave(self) -> None:
        """Gives a place back, to the next in turn where one waits."""
        if not self._queues:
            self._taken -= 1
            return
        role, queue = next(iter(self._queues.items()))
        first = queue.popleft()
        del self._queues[role]
        if queue:
            self._queues[role] = queue
        first.set_result(None)

    def _forget(self, role: str, mine: asyncio.Future[None]) -> None:
        queue = self._queues[role]
        queue.remove(mine)
        if not queue:
            del self._queues[role]

    def _busy(self, role: str) -> BusyError:
        wait = math.ceil(self._until_turn(role, len(self._queues.get(role, ()))))
        return BusyError(
            "the question would wait longer than it may take",
            detail=f"The engine answers {self._places} at a time, and {self.waiting} wait;"
            f" a further one of yours would begin in about {max(1, wait)} seconds.",
            hint="Ask again later, or raise nl.timeout; operators: raise [limits] concurrent, or run another engine.",
        )
