"""Who may ask, and how many questions an hour: counted over several engines, and refused in words that help."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import asyncpg
import pytest

from engine.app.service import Service
from engine.values.errors import ModelUnavailableError, NLError, NotPermittedError, QuotaError
from engine.values.messages import Asker, AskRequest, MoreRequest
from pgparley.cluster import Cluster
from tests.support.statements import connected

ANA = Asker("ana", "music")
BOB = Asker("bob", "music")
SET = "SELECT nl_catalog.set_quota"
QUESTION = "names of all singers"


async def outcome(service: Service, asker: Asker) -> str | None:
    """The SQLSTATE of a question, None where it was answered."""
    try:
        await service.ask(AskRequest(asker, QUESTION))
    except NLError as error:
        return error.sqlstate
    return None


async def test_without_a_quota_nothing_is_counted(engines: tuple[Service, Service], pool: Any) -> None:
    assert [await outcome(engines[0], ANA) for _ in range(3)] == [None] * 3
    assert await pool.fetchval("SELECT count(*) FROM pgparley.asked") == 0


async def test_all_engines_count_together(engines: tuple[Service, Service], pool: Any) -> None:
    await pool.execute(f"{SET}('ana', 3)")
    found = await asyncio.gather(*(outcome(engines[n % 2], ANA) for n in range(8)))
    assert sorted(found, key=str) == ["53400"] * 5 + [None] * 3
    # It was asked, and bob may read nothing.
    assert await outcome(engines[0], BOB) == "NL003"


async def test_who_is_refused_learns_when_to_come_back(engines: tuple[Service, Service], pool: Any) -> None:
    await pool.execute(f"{SET}('public', 2)")
    service = engines[0]
    reply = await service.ask(AskRequest(ANA, QUESTION))
    await service.more(MoreRequest(ANA, reply.qid))
    with pytest.raises(QuotaError) as refused:
        await service.more(MoreRequest(ANA, reply.qid))
    assert refused.value.detail == 'The quota of "ana" is 2 questions an hour.'
    assert re.search(r"Ask again at \d\d:\d\d:\d\d UTC, in (59|60) minutes", refused.value.hint or "")
    # What was asked can still be looked at, and forgetting it gives no new question.
    await pool.execute("DELETE FROM pgparley.question")
    assert await outcome(service, ANA) == "53400"
    await pool.execute("UPDATE pgparley.asked SET asked_at = asked_at - interval '59 minutes 58 seconds'")
    await pool.execute(f"{SET}('public', 1)")
    with pytest.raises(QuotaError, match="as many questions as you may"):
        await service.ask(AskRequest(ANA, QUESTION))
    await pool.execute("UPDATE pgparley.asked SET asked_at = asked_at - interval '1 minute'")
    assert await outcome(service, ANA) is None
    assert await pool.fetchval("SELECT count(*) FROM pgparley.asked") == 1


@pytest.mark.usefixtures("groups")
async def test_the_own_quota_counts_then_the_largest_of_the_groups_then_that_of_all(
    engines: tuple[Service, Service], pool: Any
) -> None:
    async def quotas() -> list[object]:
        return [
            await pool.fetchval("SELECT most FROM pgparley.limits_of($1, '')", role)
            for role in ("ana", "bob", "nobody", "postgres")
        ]

    await pool.execute(f"{SET}('staff', 5), nl_catalog.set_quota('analysts', 2)")
    assert await quotas() == [5, None, None, None]
    await pool.execute(f"{SET}('public', 0)")
    assert await quotas() == [5, 0, 0, 0]
    await pool.execute(f"{SET}('ana', 1)")
    assert await quotas() == [1, 0, 0, 0]
    with pytest.raises(NotPermittedError) as refused:
        await engines[0].ask(AskRequest(BOB, QUESTION))
    assert (refused.value.sqlstate, refused.value.message) == ("42501", "you may not ask questions")
    assert "nl_catalog.set_quota()" in (refused.value.hint or "")
    await pool.execute(f"{SET}('public', NULL), nl_catalog.set_quota('ana', NULL)")
    assert await quotas() == [5, None, None, None]


@pytest.mark.usefixtures("groups")
async def test_who_sets_and_sees_quotas(server: Cluster, pool: Any) -> None:
    await pool.execute(f"{SET}('staff', 5), nl_catalog.set_quota('bob', 1)")
    for call in ("'bob', -1", "NULL, 1"):
        with pytest.raises(asyncpg.InvalidParameterValueError) as refused:
            await pool.execute(f"{SET}({call})")
        assert refused.value.hint
    await pool.execute("GRANT nl_steward TO ana")
    async with connected(server.dsn("store", "ana")) as theirs:
        assert await theirs.fetch("SELECT role, questions_an_hour FROM nl_catalog.quotas") == [("staff", 5)]
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="only an nl_admin says who may ask"):
            await theirs.execute(f"{SET}('ana', 1000)")
        for forbidden in (
            "TABLE pgparley.asked",
            "DELETE FROM pgparley.quota",
            "SELECT pgparley.admit('bob', '')",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await theirs.execute(forbidden)
    assert await pool.fetchval("SELECT questions_an_hour FROM nl_catalog.quotas WHERE role = 'staff'") == 5


async def test_a_store_that_does_not_answer_admits_nobody(
    engines: tuple[Service, Service], pool: Any
) -> None:
    await pool.execute("ALTER TABLE pgparley.quota RENAME TO elsewhere")
    with pytest.raises(ModelUnavailableError):
        await engines[0].ask(AskRequest(ANA, QUESTION))
