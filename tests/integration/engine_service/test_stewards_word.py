"""A question that came to nothing is sent to stewards by its asker alone, who is told once of their answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.app.checking import check_pending
from engine.app.question_store import Questions
from engine.app.service import Service
from engine.learn.store import LearningStore
from engine.values.messages import (
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    NoneRequest,
    RowKind,
    ShowRequest,
)
from engine.values.settings import LearningSettings
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving

ANA = Asker("ana", "music")
QUESTION = "names that singers are known by"
RIGHT = "SELECT stage_name FROM singer"


@pytest.fixture
def asking(pool: Any, tools: Tools) -> Service:
    return serving(replace(tools, memory=LearningStore(pool, LearningSettings())), pool)


async def other(service: Service) -> AskReply:
    return await service.ask(AskRequest(ANA, "age of each singer"))


async def verified(pool: Any, tools: Tools, sql: str = RIGHT) -> None:
    await pool.execute("SELECT nl_catalog.verify('music', $1, $2)", QUESTION, sql)
    await check_pending(pool, tools.upstream)


async def stands(pool: Any) -> list[tuple[Any, ...]]:
    rows = await pool.fetch(
        "SELECT question, reason, asker, candidates, trace FROM nl_catalog.failed_questions ORDER BY asked_at"
    )
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("by", ["question", "rejection"])
async def test_its_asker_is_told_once_of_the_answer(
    by: str, asking: Service, pool: Any, tools: Tools
) -> None:
    shown = await asking.ask(AskRequest(ANA, QUESTION, send=by == "question"))
    await asking.none(NoneRequest(ANA, shown.qid, "I need stage names", send=by == "rejection"))
    question, reason, asker, candidates, trace = (await stands(pool))[0]
    assert (question, reason, asker) == (QUESTION, "I need stage names", "ana")
    assert candidates == [row.sql for row in shown.rows]
    assert trace
    assert not any(line.startswith("link") for line in trace)
    assert (await other(asking)).notices == ()
    await verified(pool, tools)
    assert await Questions(pool).verified_since("bob") == []
    (told,) = (await other(asking)).notices
    assert f"NL SHOW {len(shown.rows) + 1} OF '{shown.qid}'" in told
    assert (await other(asking)).notices == ()
    row = (await asking.show(ShowRequest(ANA, shown.qid, len(shown.rows) + 1))).rows[0]
    assert (row.kind, row.sql) == (RowKind.VERIFIED, RIGHT)
    assert (await asking.choose(ChooseRequest(ANA, shown.qid, row.n))).sql
    again = await asking.ask(AskRequest(ANA, QUESTION, send=True))
    assert (again.rows[0].kind, again.rows[0].sql, again.notices) == (RowKind.VERIFIED, RIGHT, ())


async def test_what_was_not_sent_names_nobody(asking: Service, pool: Any, tools: Tools) -> None:
    shown = await asking.ask(AskRequest(ANA, QUESTION))
    await asking.none(NoneRequest(ANA, shown.qid))
    assert (await stands(pool))[0][2:] == (None, None, None)
    await verified(pool, tools)
    assert (await other(asking)).notices == ()


async def test_an_answer_that_its_asker_may_not_run_is_not_told_of(
    asking: Service, pool: Any, tools: Tools
) -> None:
    shown = await asking.ask(AskRequest(ANA, QUESTION, send=True))
    await asking.none(NoneRequest(ANA, shown.qid))
    await verified(pool, tools, "SELECT salary FROM singer")
    reply = await other(asking)
    assert reply.notices == ()
    stored = await asking.show(ShowRequest(ANA, shown.qid))
    assert "salary" not in str((reply, stored))
