"""A question over a large schema never holds the loop that all questions share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, cast

import pytest

from engine.app.pipeline import STAGES
from engine.app.question_store import Questions
from engine.app.service import Service
from engine.link.source import StoredValues
from engine.question.tokens import normal_form
from engine.route.router import HybridRouter
from engine.values import learned
from engine.values.conditions import Condition, Hardness, Operator, StatementKind
from engine.values.guard_rules import BUILT_IN, Rules
from engine.values.messages import Asker, AskReply, AskRequest
from engine.values.ports import Result
from engine.values.settings import DialogueSettings, GenerationSettings, Limits, Strategy
from schema_catalog.types import Column, Database, ForeignKey, Snapshot, Table, TableKind
from schema_catalog.values import ColumnValues
from tests.support.generating import WITH_GRAMMARS
from tests.support.scripted import ScriptedLLM, WordEncoder
from tests.support.tools import bare_tools

LONGEST = 0.1
"""Seconds of the loop thread's own processor time that one turn of the loop may take."""

_THINGS = "order invoice shipment customer supplier product payment item site contract".split()  # noqa: SIM905  the same
_KINDS = """
    express late open closed foreign partial blocked paid early bulk retail direct shared loyal rented spare broken
    seasonal digital printed annual weekly urgent frozen hidden local central mobile junior senior
""".split()  # noqa: SIM905  a list of quoted words is no easier to read
_PARTS = """
    name status amount region country category label comment owner currency weight colour priority channel discount
    rate batch origin carrier deadline
""".split()  # noqa: SIM905  the same

DATABASE = Database("erp", "", "erp", ("sales", "public"), ("public",))


def table(number: int) -> Table:
    """Of three hundred, each with columns of names of its own, and a reference to the one before it."""
    name = f"{_KINDS[number // len(_THINGS)]}_{_THINGS[number % len(_THINGS)]}"
    before = f"{_KINDS[(number - 1) // len(_THINGS)]}_{_THINGS[(number - 1) % len(_THINGS)]}"
    return Table(
        "public",
        name,
        TableKind.TABLE,
        (
            Column(f"{name}_id", "integer", nullable=False),
            Column(f"{name}_parent_id", "integer"),
            *(Column(f"{name}_{part}", "text") for part in _PARTS),
        ),
        primary_key=(f"{name}_id",),
        foreign_keys=(
            (ForeignKey((f"{name}_parent_id",), "public", before, (f"{before}_id",)),) if number else ()
        ),
    )


ERP = Snapshot("erp", ("sales", "public"), tuple(sorted(map(table, range(300)), key=lambda each: each.key)))
READABLE = frozenset((*each.key, column.name) for each, column in ERP.columns())

LINES = [
    "SELECT express_order_name, COUNT(*) FROM express_order WHERE express_order_region = 'West'"
    " GROUP BY express_order_name",
    "SELECT T2.express_order_name FROM express_invoice AS T1 JOIN express_order AS T2"
    " ON T1.express_invoice_parent_id = T2.express_order_id",
    "SELECT nothing_there FROM express_order",
    "SELECT express_order_name FROM express_order WHERE express_order_id NOT IN"
    " (SELECT express_invoice_parent_id FROM express_invoice)",
    "SELECT express_order_label FROM express_order ORDER BY express_order_amount DESC LIMIT 3",
    "SELECT express_order_country FROM express_order",
]


QUESTION = "What is the name of each express order with an express invoice in the West region?"
SHOWN = tuple(f"SELECT express_order_{part} FROM express_order" for part in _PARTS[6:16])
"""What was shown for it before."""


class Upstream:
    """Lets everybody read everything; every statement plans, and gives a row of its own."""

    async def readable(self, *_: object) -> frozenset[tuple[str, str, str]]:
        return READABLE

    async def rules(self, *_: object) -> Rules:
        return BUILT_IN

    async def explain(self, *_: object) -> float:
        return 1.0

    async def session_timeout(self, *_: object) -> None:
        return None

    async def row_secured(self, *_: object) -> frozenset[tuple[str, str]]:
        return frozenset()

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        if sql.startswith("SELECT (SELECT COUNT(*)"):  # rows that are left out
            return Result((("x", "text"),), (("0",) * sql.count("(SELECT COUNT(*)"),), truncated=False)
        row = (sql,) if "max(" not in sql else ("0",) * sql.count("max(")
        return Result(tuple(("x", "text") for _ in row), (row,), truncated=False)


class Catalog:
    """Holds the one large schema."""

    async def entries(self) -> tuple[tuple[Database, Snapshot], ...]:
        return ((DATABASE, ERP),)


class Conditions:
    """Predicts the same two, so that there are more nodes to explore than one."""

    def predict(self, *_: object) -> tuple[Condition, ...]:
        kinds = (StatementKind(frozenset({each}), Hardness.EASY) for each in (Operator.ORDER, Operator.GROUP))
        return tuple(Condition(kind, 0.4) for kind in kinds)


class Values:
    """A store in which the values of three hundred columns are allowed."""

    async def versions(self, databases: Sequence[str]) -> dict[str, tuple[int, int, int]]:
        return dict.fromkeys(databases, (1, 1, 1))

    async def values(self, *_: object) -> tuple[ColumnValues, ...]:
        return tuple(
            ColumnValues(key, ("West", "East")) for key in sorted(READABLE) if key[2].endswith("region")
        )


class Memory:
    """Has known the asker to refuse many statements for this very question."""

    async def known(self, *_: object) -> learned.AskerFeedback:
        return learned.AskerFeedback(
            lessons=tuple(
                learned.Lesson(QUESTION, normal_form(QUESTION), sql, learned.ExampleKind.REJECTED, own=True)
                for sql in SHOWN
            )
        )


class Store:
    """Takes whatever is kept."""

    async def execute(self, *_: object) -> None:
        return None

    async def fetch(self, *_: object) -> list[object]:
        return []


def service(model: ScriptedLLM) -> Service:
    encoder: Any = WordEncoder()
    tools = bare_tools(
        catalog=Catalog(),
        upstream=cast("Any", Upstream()),
        encoder=encoder,
        model=cast("Any", model),
        router=HybridRouter(encoder),
        conditions=Conditions(),
        values=StoredValues(cast("Any", Values())),
        memory=Memory(),
        dialogue=DialogueSettings(question=1.0, abstention=1.0),
        generation=GenerationSettings(strategy=Strategy.SEARCH),
    )
    return Service(tools, Questions(cast("Any", Store())), Limits(calls=8))


async def longest_turn(answering: asyncio.Task[AskReply]) -> float:
    """The most of its thread's processor time that one turn of the loop takes until the answer is there, seconds.

    Others share the machine, so that the clock on the wall says nothing.
    """
    longest, before = 0.0, time.thread_time()
    while not answering.done():
        await asyncio.sleep(0)
        now = time.thread_time()
        longest, before = max(longest, now - before), now
    return longest


@pytest.mark.usefixtures("uncollected")
async def test_a_large_schema_holds_nobody_up() -> None:
    ask = AskRequest(Asker("ana", "erp"), QUESTION, k=6, exclude=SHOWN)
    answering = asyncio.create_task(
        service(ScriptedLLM(LINES, profile=WITH_GRAMMARS)).ask(ask), name="question"
    )
    longest = await longest_turn(answering)
    reply = await answering
    assert len(reply.rows) > 3
    assert {each.stage for each in reply.timings} == {stage.__name__ for stage in STAGES}
    assert longest < LONGEST
