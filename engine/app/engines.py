"""Several engines over one store, as a gateway asks them.

Each keeps nothing that another needs: a dialogue goes on at any of them. Owns which engine is asked, and what may be
asked of another one where it does not answer, or has no place; what is asked is `engine.app.client`'s.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog

from engine.app.client import EngineAddress, EngineClient, EngineReply
from engine.values.errors import EngineLostError, ModelUnavailableError, NLError, ReportedBusyError, for_log
from engine.values.messages import (
    AnswerRequest,
    AskRequest,
    EngineRequest,
    MoreRequest,
    PlanRequest,
    RowSet,
    ShowRequest,
    TopicRequest,
)

BETWEEN = 1.0
"""Seconds from one look for a lost engine to the next."""

AHEAD = 2
"""Questions by which the engine that knows a database may be ahead of the others before one of them is asked."""

SHARE, LOOK = 0.25, 5.0
"""Of a request's time, and seconds at most: who has not replied by then is asked whether it is there at all."""

REPEATABLE = (AskRequest, MoreRequest, AnswerRequest, PlanRequest, ShowRequest, TopicRequest)
"""What may be asked twice: a lost reply leaves an answer that nobody saw, and nothing learned."""

_Reply = TypeVar("_Reply")

log = structlog.stdlib.get_logger("engine")


@dataclass(slots=True, eq=False)
class _Place:
    """One engine. `asked`: requests that it has not replied to. `probe`: it was lost, and is looked for."""

    address: str
    client: EngineClient
    asked: int = 0
    probe: asyncio.Task[None] | None = None

    def lost(self) -> None:
        """It is asked last until it says that it is ready: no question waits to find that out."""
        if self.probe is None:
            self.probe = asyncio.create_task(self._look(), name=f"engine {self.address}")

    async def _look(self) -> None:
        while not await self.client.ready():  # noqa: ASYNC110 - it is in another process
            await asyncio.sleep(BETWEEN)
        self.probe = None


class Engines:
    """The engines of a gateway. Connects on the first request; `close` it inside the same event loop.

    Questions on a database go to the same engine, whose model server has read its schema, unless that one has more to
    do than others. Every call raises as `EngineClient`'s, of the engine that was asked last.
    """

    def __init__(self, addresses: Sequence[EngineAddress]) -> None:
        """`addresses`: none means that every call raises `ModelUnavailableError`."""
        self._places = [_Place(each.target, EngineClient(each)) for each in addresses]

    async def consult(self, request: EngineRequest, *, timeout: float) -> EngineReply:  # noqa: ASYNC109 - a budget
        """The reply to a session's request, within the request's own `timeout` where it has one."""
        seconds = getattr(request, "timeout", None) or timeout
        ends, repeatable = time.monotonic() + seconds, isinstance(request, REPEATABLE)

        async def ask(client: EngineClient) -> EngineReply:
            reply = client.consult(request, timeout=max(0.0, ends - time.monotonic()))
            if not repeatable or len(self._places) == 1:
                return await reply
            return await _unless_it_hangs(reply, client, min(LOOK, SHARE * seconds))

        return await self._first(self._order(request.asker.dbname), ask, repeatable=repeatable)

    async def view(self, name: str, *, timeout: float) -> RowSet:  # noqa: ASYNC109 - a budget
        """The rows of one of the console's views."""
        return await self._first(
            self._order(""), lambda client: client.view(name, timeout=timeout), repeatable=True
        )

    async def ready(self) -> bool:
        """Whether one of them has loaded what the first question needs."""
        return any(await asyncio.gather(*(place.client.ready() for place in self._places)))

    async def close(self) -> None:
        """Closes the connections."""
        for place in self._places:
            if place.probe is not None:
                place.probe.cancel()
                await asyncio.gather(place.probe, return_exceptions=True)
                place.probe = None
            await place.client.close()

    def _order(self, dbname: str) -> Sequence[_Place]:
        """The engines, those first that should be asked first."""
        least = min((place.asked for place in self._places), default=0)
        return sorted(
            self._places,
            key=lambda place: (
                place.probe is not None,
                max(0, place.asked - least - AHEAD + 1),
                hashlib.sha256(f"{place.address} {dbname}".encode()).digest(),
            ),
        )

    async def _first(
        self,
        places: Sequence[_Place],
        ask: Callable[[EngineClient], Awaitable[_Reply]],
        *,
        repeatable: bool,
    ) -> _Reply:
        """What the first of `places` replies that has a place; of a request that is not `repeatable` no second copy."""
        problem: NLError = ModelUnavailableError(
            "no engine is configured", hint="Set engine in the gateway's settings and restart it."
        )
        for place in places:
            place.asked += 1
            try:
                return await ask(place.client)
            except ReportedBusyError as busy:
                problem = busy
            except EngineLostError as lost:
                log.warning("engine lost", engine=place.address, sent=lost.sent, problem=for_log(lost))
                place.lost()
                if lost.sent and not repeatable:
                    raise
                problem = lost
            finally:
                place.asked -= 1
        raise problem


async def _unless_it_hangs(
    reply: Coroutine[None, None, EngineReply], client: EngineClient, look: float
) -> EngineReply:
    """The reply. Raises `EngineLostError` where the engine hangs: every `look` seconds it says that it is there."""
    task = asyncio.create_task(reply, name="engine's reply")
    try:
        while not (await asyncio.wait({task}, timeout=look))[0]:
            await client.check()
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
