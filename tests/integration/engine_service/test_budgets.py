"""Tokens a day and time of an asker's own: counted over several engines, and refused in words that help."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import asyncpg
import pytest
from structlog.testing import capture_logs

from engine.app.service import Service
from engine.values.errors import (
    BusyError,
    CancelledError,
    ModelUnavailableError,
    NLError,
    NotPermittedError,
    QuotaError,
)
from engine.values.messages import (
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    PlanRequest,
    ShowRequest,
)
from engine.values.ports import Completion, Prompt
from engine.values.settings import Limits
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.quotas import QuotaStore
from tests.integration.engine_service.conftest import serving
from tests.support.scripted import ScriptedLLM
from tests.support.statements import connected

ANA = Asker("ana", "music")

BOB = Asker("bob", "music")

SET = "SELECT nl_catalog.set_budget"

ASK = AskRequest(ANA, "names of all singers")

USED = "SELECT questions, prefilled, cached, generated FROM pgparley.token_use WHERE asker = $1"


class Costly(ScriptedLLM):
    """Writes a statement that has to be repaired, and repairs it, for 100 tokens a call and 1,000 from the cache.

    The call `fails_at` fails with `problem`; without one it hangs, and has been `reached`.
    """

    reached: asyncio.Event
    fails_at = 0
    problem: NLError | None = None

    async def complete(self, prompt: Prompt, **options: object) -> Completion:
        if len(self.prompts) + 1 == self.fails_at:
            if self.problem is not None:
                raise self.problem
            self.reached.set()
            await asyncio.Event().wait()
        written = await super().complete(prompt, **options)
        return replace(written, prefilled=90, cached=1_000, generated=10)


@pytest.fixture
def model() -> Costly:
    made = Costly(["SELECT name FROM nowhere", "SELECT name FROM singer"] * 20)
    made.reached = asyncio.Event()
    return made


async def used(pool: Any, role: str = "ana") -> tuple[int, ...] | None:
    row = await pool.fetchrow(USED, role)
    return None if row is None else tuple(row)


async def test_a_question_is_written_down_once_whatever_it_asked_the_model(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    reply = await engines[0].ask(ASK)
    calls = len(model.prompts)
    assert calls > 1
    assert reply.usage.calls == calls
    assert await used(pool) == (1, 90 * calls, 1_000 * calls, 10 * calls)
    await engines[0].show(ShowRequest(ANA, reply.qid))
    assert await used(pool) == (1, 90 * calls, 1_000 * calls, 10 * calls)
    with pytest.raises(NLError):
        await engines[0].ask(replace(ASK, asker=BOB))
    assert await used(pool, "bob") is None, "he may read nothing, and the model was not asked"


async def test_engines_that_answer_together_lose_no_token(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    await asyncio.gather(*(engines[n % 2].ask(ASK) for n in range(6)))
    calls = len(model.prompts)
    assert await used(pool) == (6, 90 * calls, 1_000 * calls, 10 * calls)


async def test_who_has_used_their_budget_learns_when_it_begins_anew(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    await pool.execute(f"{SET}('public', 150), nl_catalog.set_quota('ana', 2)")
    await engines[0].ask(ASK)
    spent = 100 * len(model.prompts)
    assert spent > 150, "what has begun is finished"
    for engine in engines:
        with pytest.raises(QuotaError, match="as much as they may in a day") as refused:
            await engine.ask(ASK)
        assert refused.value.sqlstate == "53400"
        assert refused.value.detail == (
            f'They have used {spent} tokens today; the budget of "ana" is 150 a day.'
        )
        assert re.fullmatch(
            r"It begins anew at 00:00:00 UTC, in \d+ minutes; or ask an nl_admin for more:"
            r" nl_catalog\.set_budget\(\)\.",
            refused.value.hint or "",
        )
    assert await pool.fetchval("SELECT count(*) FROM pgparley.asked") == 1, "none of the hour's questions"
    await pool.execute(f"{SET}('ana', {spent + 1})")
    await engines[1].ask(ASK)
    # Yesterday's tokens are none of today's.
    await pool.execute(f"{SET}('ana', 1), nl_catalog.set_quota('ana', NULL)")
    await pool.execute("UPDATE pgparley.token_use SET day = day - 1")
    await engines[1].ask(ASK)
    assert await pool.fetchval("SELECT count(*) FROM pgparley.token_use WHERE asker = 'ana'") == 2
    await pool.execute("UPDATE pgparley.token_use SET day = day - 30 WHERE day < pgparley.today()")
    await pool.execute(f"{SET}('ana'), nl_catalog.set_budget('public')")
    await engines[0].ask(ASK)
    assert await pool.fetchval("SELECT count(*) FROM pgparley.token_use WHERE asker = 'ana'") == 1


async def test_budgets_are_of_months_and_of_money_as_well(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    await pool.execute("SELECT pgparley.spend_tokens('ana', '', 60, 0, 40, 2.5)")
    # Of another day of this month, or of the last one.
    await pool.execute(
        "UPDATE pgparley.token_use SET day = date_trunc('month', pgparley.today()::timestamp)::date"
    )
    for limit, month, did in (
        ("tokens_a_month => 100", 'the budget of "ana" is 100 a month', "used 100 tokens this month"),
        ("money_a_month => 2.50", 'the budget of "ana" is 2.50 a month', "cost 2.5 this month"),
    ):
        await pool.execute(f"{SET}('ana', {limit})")
        with pytest.raises(QuotaError, match="as much as they may in a month") as refused:
            await engines[0].ask(ASK)
        assert refused.value.sqlstate == "53400"
        assert refused.value.detail == f"They have {did}; {month}."
        # From the last day on it is by the minute.
        begins = r"It begins anew at (\d{4}-\d\d-01 00:00:00 UTC, in \d+ days|00:00:00 UTC, in \d+ minutes);"
        assert re.match(begins, refused.value.hint or "")
    await pool.execute(f"{SET}('ana', tokens_a_month => 101, money_a_month => 2.51, money_a_day => 0)")
    with pytest.raises(NotPermittedError) as never:
        await engines[0].ask(ASK)
    assert never.value.detail == 'The budget of "ana" is 0 a day.'
    await pool.execute(f"{SET}('ana', tokens_a_month => 101, money_a_month => 2.51)")
    assert (await engines[0].ask(ASK)).rows
    await pool.execute("UPDATE pgparley.token_use SET day = day - 31")
    await pool.execute(f"{SET}('ana', tokens_a_month => 1)")
    assert (await engines[1].ask(ASK)).rows, "the last month's are none of this one's"


async def test_the_limits_of_a_person_and_those_of_the_login_hold_together(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    people = [
        replace(ASK, asker=replace(ANA, person=name)) for name in ("eva@example.org", "udo@example.org")
    ]
    quota = "SELECT nl_catalog.set_quota"
    await pool.execute(f"{quota}('ana', 3), nl_catalog.set_quota('ana', 1, person => '*')")
    await pool.execute(f"{quota}('ana', 2, person => 'udo@example.org')")
    assert (await engines[0].ask(people[0])).rows
    with pytest.raises(QuotaError) as refused:
        await engines[1].ask(people[0])
    assert refused.value.detail == (
        'The quota of "eva@example.org", for whom "ana" asks, is 1 questions an hour.'
    )
    for _ in range(2):
        assert (await engines[0].ask(people[1])).rows
    with pytest.raises(QuotaError) as refused:
        await engines[0].ask(ASK)
    assert refused.value.detail == 'The quota of "ana" is 3 questions an hour.'
    used = "SELECT person, questions FROM nl_catalog.token_use ORDER BY person"
    assert await pool.fetch(used) == [("eva@example.org", 1), ("udo@example.org", 2)]
    await pool.execute(f"{quota}('ana', NULL), nl_catalog.set_budget('ana', 1, person => 'eva@example.org')")
    with pytest.raises(QuotaError, match="as much as they may in a day"):
        await engines[0].ask(people[0])
    assert (await engines[0].ask(ASK)).rows


@pytest.mark.parametrize("problem", [ModelUnavailableError("gone"), CancelledError("out of time")])
async def test_a_question_that_failed_has_cost_what_it_cost(
    engines: tuple[Service, Service], pool: Any, model: Costly, problem: NLError
) -> None:
    model.fails_at, model.problem = 2, problem
    with pytest.raises(type(problem)):
        await engines[0].ask(ASK)
    assert await used(pool) == (1, 90, 1_000, 10)


async def test_a_question_that_was_cancelled_too(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    model.fails_at = 2
    asking: asyncio.Task[AskReply] = asyncio.create_task(engines[0].ask(ASK), name="asking")
    await model.reached.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await used(pool) == (1, 90, 1_000, 10)


@pytest.mark.usefixtures("groups")
async def test_who_sets_and_sees_budgets_and_what_was_used(
    engines: tuple[Service, Service], server: Cluster, pool: Any, model: Costly
) -> None:
    await pool.execute(f"{SET}('staff', 5000), nl_catalog.set_budget('bob', 1)")
    await pool.execute("SELECT nl_catalog.set_quota('bob', 3)")
    for call in ("'bob', -1", "NULL, 1", "'', 1"):
        with pytest.raises(asyncpg.InvalidParameterValueError) as refused:
            await pool.execute(f"{SET}({call})")
        assert refused.value.hint
    await engines[0].ask(ASK)
    await pool.execute("SELECT pgparley.spend_tokens('bob', '', 7, 8, 9, 0.5)")
    calls = len(model.prompts)
    own = ("ana", 1, 100 * calls, 90 * calls, 1_000 * calls, 10 * calls, 5_000)
    seen = (
        "SELECT role, questions, tokens, prefilled, cached, generated, tokens_a_day FROM nl_catalog.token_use"
    )
    assert await pool.fetch(f"{seen} ORDER BY role") == [own, ("bob", 1, 16, 7, 8, 9, 1)]
    listed = "SELECT role, questions_an_hour, tokens_a_day FROM nl_catalog.quotas ORDER BY role"
    quotas = await pool.fetch(listed)
    assert quotas == [("bob", 3, 1), ("staff", None, 5_000)]
    await pool.execute("GRANT nl_steward TO ana")
    async with connected(server.dsn("store", "ana")) as theirs:
        assert await theirs.fetch(seen) == [own]
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="only an nl_admin says how many tokens"):
            await theirs.execute(f"{SET}('ana', 1000)")
        for forbidden in (
            "TABLE pgparley.token_use",
            "DELETE FROM pgparley.quota",
            "SELECT pgparley.spend_tokens('bob', '', 1, 1, 1, 0)",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await theirs.execute(forbidden)


async def test_without_the_store_nobody_is_admitted_and_a_cost_is_lost_and_told(
    engines: tuple[Service, Service], pool: Any, model: Costly
) -> None:
    await pool.execute("ALTER TABLE pgparley.quota RENAME TO elsewhere")
    with pytest.raises(ModelUnavailableError):
        await engines[0].ask(ASK)
    assert not model.prompts
    await pool.execute("ALTER TABLE pgparley.elsewhere RENAME TO quota")
    await pool.execute("ALTER TABLE pgparley.token_use RENAME COLUMN prefilled TO otherwise")
    with capture_logs() as told:
        assert (await engines[0].ask(ASK)).rows
    [line] = [each for each in told if each["event"] == "tokens not counted"]
    assert (line["user"], line["tokens"]) == ("ana", 100 * len(model.prompts))


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


async def test_a_follow_up_has_the_time_that_its_asker_gives(service: Service, upstream: Watched) -> None:
    qid = await asked(service, upstream)
    for name, follow_up in FOLLOW_UPS.items():
        upstream.seconds.clear()
        await follow_up(service, qid, 12.0)
        assert upstream.seconds, name
        assert max(upstream.seconds) <= 12.0, name
        await follow_up(service, qid, 1e9)
        assert 12.0 < max(upstream.seconds) <= LIMITS.timeout, name
        with pytest.raises((BusyError, CancelledError)):
            await follow_up(service, qid, 1e-9)


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


async def test_statements_wait_for_each_other_and_for_no_question(
    service: Service, upstream: Watched
) -> None:
    qid = await asked(service, upstream)
    for follow_up in FOLLOW_UPS.values():
        async with service.admission.place("bob", 50.0):
            await follow_up(service, qid, None)
        async with service.statements.place("bob", 50.0):
            with pytest.raises(BusyError):
                await follow_up(service, qid, 0.01)
