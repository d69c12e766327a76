"""Who may ask now: limits, places and the queue.

What an asker may still ask in this hour, today and this month, by the store's count, in words that help. What counts
and for whom is `schema_catalog.quotas`'.

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

from engine.values import wording
from engine.values.errors import BusyError, NLError, NotPermittedError, QuotaError, for_log
from engine.values.messages import Asker, Usage
from engine.values.queue_place import teller
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.quotas import Exhausted, QuotaStore

_DAY = 24 * 60
"""Minutes."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class Allowance:
    """Of all askers of one store."""

    quotas: QuotaStore

    async def admit(self, asker: Asker) -> None:
        """Counts a question; raises `QuotaError`, `NotPermittedError` and `StoreUnavailableError`."""
        refusal = await self.quotas.admit(asker.user, asker.person)
        if refusal is not None:
            raise _exhausted(asker, refusal)

    async def spend(self, asker: Asker, usage: Usage) -> None:
        """Adds what a question cost. A store that does not answer then loses that, and not the question."""
        if not usage.calls:
            return
        tokens = usage.prefilled, usage.cached, usage.generated
        try:
            await self.quotas.spend(asker.user, asker.person, tokens, usage.money)
        except StoreUnavailableError as problem:
            lost = usage.prefilled + usage.generated
            log.warning("tokens not counted", user=asker.user, tokens=lost, problem=for_log(problem))


def _exhausted(asker: Asker, refusal: Exhausted) -> NLError:
    what, _, period = refusal.what.replace("_an_", "_a_").partition("_a_")
    whose = f'"{refusal.person}", for whom "{asker.user}" asks,' if refusal.person else f'"{asker.user}"'
    if what == "questions":
        limit = f"The quota of {whose} is {refusal.most:f} questions an {period}."
        if refusal.again_at is None:
            return _never(limit, "set_quota")
        when = _when(refusal.again_at)
        return QuotaError.told(wording.QUOTA_USED, period=period, limit=limit, when=when)
    unit = "" if what == "money" else " tokens"
    if refusal.again_at is None:
        return _never(f"The budget of {whose} is 0{unit} a {period}.", "set_budget")
    since = "today" if period == "day" else "this month"
    did = "cost" if what == "money" else "used"
    return QuotaError.told(
        wording.BUDGET_USED,
        done="cost" if what == "money" else "used the language model",
        period=period,
        limit=f"They have {did} {refusal.used.normalize():f}{unit} {since};"
        f" the budget of {whose} is {refusal.most:f} a {period}.",
        when=_when(refusal.again_at),
    )


def _never(detail: str, function: str) -> NLError:
    return NotPermittedError.told(wording.MAY_NOT_ASK, limit=detail, function=function)


def _when(at: datetime) -> str:
    """In UTC, and how long that is from now."""
    minutes = max(1, math.ceil((at - datetime.now(UTC)).total_seconds() / 60))
    if minutes > _DAY:
        return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, in {math.ceil(minutes / _DAY)} days"
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
        waits = {"places": self._places, "waiting": self.waiting, "wait": max(1, wait)}
        return BusyError.told(wording.NO_TURN, **waits)
