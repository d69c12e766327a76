"""A correction reaches questions near to its own, over a real store and real rights; only the model is scripted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.learn.feedback import Learner
from engine.learn.store import LearningStore
from engine.values.messages import (
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    RowKind,
)
from engine.values.model_profile import UNKNOWN, ModelProfile
from engine.values.ports import Completion, Prompt
from engine.values.settings import LearningSettings, Limits
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed

ANA, BOB = Asker("ana", "music"), Asker("bob", "music")

SHOP = """
CREATE TABLE sale (
    sale_id int PRIMARY KEY, sold_on date, region text, net_sales numeric, gross_sales numeric, cost_price numeric);
CREATE TABLE refund (refund_id int PRIMARY KEY, refunded_on date, amount numeric);
INSERT INTO sale VALUES (1, '2024-01-03', 'North', 10, 12, 5), (2, '2024-01-09', 'South', 20, 24, 5),
    (3, '2025-02-03', 'North', 40, 48, 5);
INSERT INTO refund VALUES (1, '2024-01-20', 4), (2, '2025-02-21', 3);
GRANT SELECT ON sale, refund TO ana, bob;
"""

FIRST = "net sales by month"
FAULT = "SELECT date_trunc('month', sold_on) AS month, sum({0}) AS {0} FROM sale GROUP BY 1"
LESS_REFUNDS = (
    "SELECT s.month, s.{0} - coalesce(r.refunded, 0) AS {0} FROM (SELECT date_trunc('month', sold_on) AS month, "
    "sum({0}) AS {0} FROM sale GROUP BY 1) AS s LEFT JOIN (SELECT date_trunc('month', refunded_on) AS month, "
    "sum(amount) AS refunded FROM refund GROUP BY 1) AS r ON r.month = s.month"
)
NET, GROSS = LESS_REFUNDS.format("net_sales"), LESS_REFUNDS.format("gross_sales")


@dataclass
class Stubborn:
    """Repeats the fault whatever it is shown, of the column that the question names; says follow-ups in full words."""

    in_full: str = ""
    prompts: list[Prompt] = field(default_factory=list)
    profile: ModelProfile = UNKNOWN

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        self.prompts.append(prompt)
        asked = prompt.user.rpartition("### Question")[2]
        line = FAULT.format("gross_sales" if "gross" in asked else "net_sales") + "\n```"
        return Completion(line if prompt.prefix else self.in_full, 1, 0, 1, -0.1, finished=True)

    async def read(self, prompt: Prompt, **_: object) -> None:
        """Nothing to keep."""


@pytest.fixture
def model() -> Stubborn:
    return Stubborn()


@pytest.fixture
async def shop(pool: Any) -> None:
    await changed(pool, "music", SHOP)


def made(tools: Tools, pool: Any, learning: LearningSettings | None = None) -> Service:
    learning = learning or LearningSettings()
    store = LearningStore(pool, learning)
    using = replace(tools, memory=store, learning=learning)
    return serving(using, pool, Limits(k=3, calls=4), learner=Learner(using, store))


@pytest.fixture
def service(tools: Tools, pool: Any, shop: None) -> Service:
    return made(tools, pool)


async def ask(service: Service, question: str, asker: Asker = ANA, **more: Any) -> AskReply:
    return await service.ask(AskRequest(asker, question, db="music", **more))


async def corrected(service: Service) -> AskReply:
    """The answer to the first question, before its asker corrected it."""
    reply = await ask(service, FIRST)
    await service.correct(CorrectRequest(ANA, reply.qid, NET))
    return reply


def of_gross(reply: AskReply) -> list[int]:
    """The rows whose statement is the corrected one of gross sales."""
    return [row.n for row in reply.rows if " ".join((row.sql or "").lower().split()) == GROSS.lower()]


def before(model: Stubborn) -> str:
    """What the prompt of the last follow-up says that it goes on from."""
    return next(each.user for each in reversed(model.prompts) if not each.prefix)


async def test_a_follow_up_goes_on_from_what_its_asker_said_last(service: Service, model: Stubborn) -> None:
    model.in_full = "gross sales by month"
    reply = await ask(service, FIRST)
    await service.choose(ChooseRequest(ANA, reply.qid, 1))
    await service.correct(CorrectRequest(ANA, reply.qid, LESS_REFUNDS.format("cost_price")))
    last = await service.correct(CorrectRequest(ANA, reply.qid, NET))
    await ask(service, "the same in gross sales", after=reply.qid)
    assert NET in before(model), "the newest correction, though a row was chosen before it"
    await service.choose(ChooseRequest(ANA, reply.qid, 1))
    await ask(service, "the same in gross sales", after=reply.qid)
    assert NET not in before(model), "a row that was chosen since"
    await service.choose(ChooseRequest(ANA, reply.qid, last.rows[0].n))
    again = await ask(service, FIRST)
    assert (again.rows[0].kind, again.rows[0].sql) == (RowKind.VERIFIED, NET)
    await service.correct(CorrectRequest(ANA, again.qid, LESS_REFUNDS.format("cost_price")))
    await ask(service, "the same in gross sales", after=again.qid)
    assert "cost_price" in before(model), "a correction of what was verified"


async def test_the_right_statement_of_a_near_question_is_in_the_set_without_a_call(
    service: Service, model: Stubborn
) -> None:
    near = "gross sales by month"
    plain = await ask(service, near)
    assert of_gross(plain) == []
    calls = len(model.prompts)
    first = await corrected(service)
    calls, before_it = len(model.prompts), len(model.prompts) - calls
    reply = await ask(service, near)
    assert NET in model.prompts[-1].user, "as an example, which this model does not follow"
    assert len(model.prompts) - calls <= before_it
    (n,) = of_gross(reply)
    row = reply.rows[n - 1]
    assert "made of your correction" in row.explanation
    assert "reads gross_sales, not net_sales" in row.explanation
    assert any("near_question" in line.event for line in reply.trace)
    model.in_full = f"{near}?"
    assert of_gross(await ask(service, "the same in gross sales", after=first.qid)) != []
    unrelated = await ask(service, "how many regions are there?")
    assert not any("near_question" in line.event for line in unrelated.trace)


async def test_it_is_for_who_may_have_it(tools: Tools, pool: Any, service: Service) -> None:
    await corrected(service)
    near = "gross sales by month"
    assert of_gross(await ask(service, near, BOB)) == [], "it is ana's"
    await pool.execute("UPDATE pgparley.learned_example SET approved_at = now()")
    shared = await ask(service, near, BOB)
    assert "made of an approved correction" in shared.rows[of_gross(shared)[0] - 1].explanation
    off = made(tools, pool, LearningSettings(enabled=False))
    assert of_gross(await ask(off, near)) == []


async def test_it_is_not_for_who_cannot_read_all_that_it_names(service: Service, pool: Any) -> None:
    await corrected(service)
    await pool.execute("UPDATE pgparley.learned_example SET approved_at = now()")
    await changed(pool, "music", "REVOKE SELECT ON refund FROM bob", "GRANT SELECT (amount) ON refund TO bob")
    unread = await ask(service, "gross sales by month", BOB)
    assert of_gross(unread) == []
    assert "refunded_on" not in repr(unread)
