"""What a correction of a near question makes of itself for another one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from engine.link.element_text import linked
from engine.question.question import Question
from engine.values.candidate import RuleKind
from engine.values.dialogue import Dialogue, FollowUp
from engine.values.elements import Relation, ValueLink
from engine.values.learned import Example, Learned
from engine.values.state import State
from engine.write.write import write
from schema_catalog.types import Snapshot
from tests.support.asking import PlanningUpstream, asked, route, tools
from tests.support.schemas import written
from tests.support.scripted import WordEncoder

SHOP = Snapshot(
    "shop",
    ("public",),
    written(
        "sale: *sale_id buyer->buyer.buyer_id sold_on:date region:text status:text net_sales gross_sales; "
        "refund: *refund_id refunded_on:date amount; buyer: *buyer_id age"
    ),
)
FAULT = "SELECT sold_on, net_sales FROM sale"


def shape(column: str = "net_sales", where: str = "", beside: str = "", called: str = "") -> str:
    """A subquery of sums, less another one of sums."""
    month = "date_trunc('month', {0}) AS month"
    return (
        f"SELECT s.month, s.{called or column} - r.refunded AS {called or column} FROM "
        f"(SELECT {month.format('sold_on')}, SUM({column}) AS {called or column} FROM sale{where} GROUP BY 1) AS s "
        f"JOIN (SELECT {month.format('refunded_on')}, SUM(amount) AS refunded FROM refund{beside} GROUP BY 1) AS r "
        "ON r.month = s.month"
    )


def plain(sql: str) -> str:
    return " ".join(sql.lower().replace("timestamp_trunc", "date_trunc").split())


def answered(
    question: str,
    example: Example,
    values: tuple[ValueLink, ...] = (),
    *,
    k: int = 3,
    dialogue: Dialogue | None = None,
    upstream: PlanningUpstream | None = None,
) -> State:
    """The question after statements are written, of a model that repeats the fault."""
    encoder: Any = WordEncoder()
    phrases = linked(Question(question).entities, SHOP, encoder)
    to = replace(route(question, SHOP), entities=phrases, values=values, learned=Learned((), (example,)))
    state = replace(asked(question, to, k), dialogue=dialogue or Dialogue())
    return asyncio.run(write(state, tools(FAULT, upstream)))


def taught(state: State) -> list[str]:
    return [
        plain(each.sql)
        for each in state.candidates
        if any(one.kind is RuleKind.TAUGHT for one in each.changes)
    ]


def corrected(question: str, sql: str, **more: Any) -> Example:
    return Example(question, sql, 0.8, **{"own": True, "corrected": True, **more})


def value(span: str, column: str, stored: str) -> ValueLink:
    return ValueLink(span, ("public", "sale", column), (stored,), 1.0, Relation.EQUALS)


SALES = "net sales by month"
IN_YEAR = [f" WHERE {day} >= '{{0}}-01-01' AND {day} < '{{1}}-01-01'" for day in ("sold_on", "refunded_on")]


@pytest.mark.parametrize(
    ("before", "sql", "now", "values", "expected"),
    [
        (SALES, shape(), "gross sales by month", (), shape("gross_sales")),
        (SALES, shape(), "show me the gross sales of each month", (), shape("gross_sales")),
        ("turnover by month", shape(called="turnover"), "gross sales by month", (), shape("gross_sales")),
        (SALES, shape(), "monthly net sales", (), shape()),
        (
            f"{SALES} in 2024",
            shape(where=IN_YEAR[0].format(2024, 2025), beside=IN_YEAR[1].format(2024, 2025)),
            f"{SALES} in 2025",
            (),
            shape(where=IN_YEAR[0].format(2025, 2026), beside=IN_YEAR[1].format(2025, 2026)),
        ),
        (
            f"{SALES} in North",
            shape(where=" WHERE region = 'North' AND status = 'paid'"),
            "gross sales by month in the South",
            (value("South", "region", "South"),),
            shape("gross_sales", " WHERE region = 'South' AND status = 'paid'"),
        ),
        (
            f"5 months of {SALES}",
            f"{shape()} ORDER BY 2 LIMIT 5",
            f"12 months of {SALES}",
            (),
            f"{shape()} ORDER BY 2 LIMIT 12",
        ),
    ],
    ids=["column", "other words", "names of results", "the same", "year", "value", "number"],
)
def test_what_differs_is_exchanged_and_all_else_stays(
    before: str, sql: str, now: str, values: tuple[ValueLink, ...], expected: str
) -> None:
    state = answered(now, corrected(before, sql), values)
    assert taught(state) == [plain(expected)]
    assert state.usage.calls == 1, "it costs no call"
    assert plain(state.candidates[0].sql) == plain(FAULT), "it does not stand first for being taught"


def test_the_change_says_of_what_it_was_made() -> None:
    state = answered("gross sales by month", corrected(SALES, shape()))
    (change,) = next(each.changes for each in state.candidates if each.changes)
    assert (change.rule, plain(change.before)) == ("near_question", plain(shape()))
    assert change.how == f"made of your correction of \u201c{SALES}\u201d; reads gross_sales, not net_sales"
    other = answered("gross sales by month", corrected(SALES, shape(), own=False))
    assert "an approved correction" in next(each.changes[0].how for each in other.candidates if each.changes)


@pytest.mark.parametrize(
    ("now", "values"),
    [
        ("age of each buyer", ()),
        ("how many refunds were there by region", ()),
        ("net sales by month and region", ()),
        ("net sales by month in the South", (value("South", "region", "South"),)),
        ("net sales by month in 2025", ()),
        ("sale id by month", ()),
    ],
    ids=[
        "unrelated",
        "another count",
        "one more column",
        "one more value",
        "one more period",
        "a sum of keys",
    ],
)
def test_what_has_no_counterpart_makes_none(now: str, values: tuple[ValueLink, ...]) -> None:
    assert taught(answered(now, corrected(SALES, shape()), values)) == []


def test_neither_what_was_only_chosen_nor_for_one_statement_nor_of_what_the_server_refuses() -> None:
    now, example = "gross sales by month", corrected(SALES, shape())
    assert taught(answered(now, replace(example, corrected=False))) == []
    assert taught(answered(now, example, k=1)) == []
    assert taught(answered(now, example, upstream=PlanningUpstream({"gross_sales": "no"}))) == []


def test_a_follow_up_that_only_says_what_changes() -> None:
    then = "the same in gross sales"
    going_on = Dialogue(follow_up=FollowUp(SALES, shape(), then))
    now = f"{SALES}; {then}"
    assert taught(answered(now, corrected(SALES, shape()), dialogue=going_on)) == [
        plain(shape("gross_sales"))
    ]
    assert taught(answered(now, corrected(SALES, shape()))) == []
