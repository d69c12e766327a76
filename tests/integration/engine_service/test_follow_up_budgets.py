"""What is asked of an answer has the asker's own time, and what is answered anew counts as a question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.app.service import Service
from engine.values.errors import BusyError, CancelledError, QuotaError
from engine.values.messages import Asker, AskRequest, ChooseRequest, CorrectRequest, PlanRequest
from engine.values.settings import Limits
from engine.values.tools import Tools
from schema_catalog.quotas import QuotaStore
from tests.integration.engine_service.conftest import serving

ANA = Asker("ana", "music")
RIGHT = "SELECT max(age) FROM singer"
LIMITS = Limits(k=2, calls=4, timeout=50.0, concurrent=1)


class Watched:
    """The upstream, which notes how long each statement may take."""

    def __init__(self, upstream: Any) -> None:
        self._upstream = upstream
        self.seconds: list[float] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._upstream, name)
        if name not in {"explain", "plan", "run", "in_place"}:
            return method

        async def watched(*arguments: Any, **named: Any) -> Any:
            self.seconds.append(arguments[-1].remaining())
            return await method(*arguments, **named)

        return watched


@pytest.fixture
def upstream(tools: Tools) -> Watched:
    return Watched(tools.upstream)


@pytest.fixture
def service(pool: Any, tools: Tools, upstream: Watched) -> Service:
    watched = replace(tools, upstream=cast("Any", upstream))
    return serving(watched, pool, LIMITS, quotas=QuotaStore(pool))


Ask = Callable[[Service, str, float | None], Awaitable[Any]]

FOLLOW_UPS: dict[str, Ask] = {
    "CORRECT": lambda service, qid, seconds: service.correct(
        CorrectRequest(ANA, qid, RIGHT, timeout=seconds)
    ),
    "CHOOSE": lambda service, qid, seconds: service.choose(ChooseRequest(ANA, qid, 1, timeout=seconds)),
    "PLAN": lambda service, qid, seconds: service.plan(PlanRequest(ANA, qid, 1, timeout=seconds)),
}


async def asked(service: Service, upstream: Watched) -> str:
    reply = await service.ask(AskRequest(ANA, "names of all singers"))
    upstream.seconds.clear()
    return reply.qid


@pytest.mark.parametrize("name", FOLLOW_UPS)
async def test_a_follow_up_has_the_time_that_its_asker_gives(
    service: Service, upstream: Watched, name: str
) -> None:
    qid = await asked(service, upstream)
    await FOLLOW_UPS[name](service, qid, 12.0)
    assert upstream.seconds
    assert max(upstream.seconds) <= 12.0
    await FOLLOW_UPS[name](service, qid, 1e9)
    assert 12.0 < max(upstream.seconds) <= LIMITS.timeout
    with pytest.raises((BusyError, CancelledError)):
        await FOLLOW_UPS[name](service, qid, 1e-9)


async def test_a_correction_counts_as_a_question_and_a_choice_does_not(
    service: Service, upstream: Watched, pool: Any
) -> None:
    await pool.execute("SELECT nl_catalog.set_quota('ana', 2)")
    qid = await asked(service, upstream)
    await FOLLOW_UPS["CORRECT"](service, qid, None)
    upstream.seconds.clear()
    with pytest.raises(QuotaError):
        await FOLLOW_UPS["CORRECT"](service, qid, None)
    assert upstream.seconds == []
    await FOLLOW_UPS["CHOOSE"](service, qid, None)
    await FOLLOW_UPS["PLAN"](service, qid, None)


@pytest.mark.parametrize("name", FOLLOW_UPS)
async def test_statements_wait_for_each_other_and_for_no_question(
    service: Service, upstream: Watched, name: str
) -> None:
    qid = await asked(service, upstream)
    async with service.admission.place("bob", 50.0):
        await FOLLOW_UPS[name](service, qid, None)
    async with service.statements.place("bob", 50.0):
        with pytest.raises(BusyError):
            await FOLLOW_UPS[name](service, qid, 0.01)
