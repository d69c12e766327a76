"""What a statement says otherwise than the question."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import date
from functools import partial

import pytest

from engine.findings.driver import said as said_of
from engine.findings.lint import Context
from engine.question.question import Question
from engine.statement.read import statement_of
from engine.values.candidate import AGAINST, On
from engine.values.elements import ValueList
from schema_catalog.types import Column, Snapshot
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC, table

TODAY = date(2021, 1, 6)


def contradictions(
    question: Question, sql: str, snapshot: Snapshot, on: Collection[On] = AGAINST, **more: object
) -> tuple[str, ...]:
    off = more.pop("off", ())
    context = Context(snapshot, question, **more)  # type: ignore[arg-type]
    return tuple(each.says for each in said_of(statement_of(sql, snapshot), context, on, off))  # type: ignore[arg-type]


DOUBTS = frozenset({On.CALENDAR, On.SCHEMA})
asked = partial(Question, today=TODAY)

SALES = Snapshot("sales", ("public",), (table("sales", "sale_id region net day"),))


@pytest.mark.parametrize(
    ("question", "sql", "said"),
    [
        ("sales by region", "SELECT SUM(net) FROM sales", "gives one number in all, not one for each region"),
        (
            "sales in 2020",
            "SELECT SUM(net) FROM sales WHERE day = '2020-01-01'",
            "reads 2020 as a single day",
        ),
        ("regions, best first", "SELECT region FROM sales ORDER BY net LIMIT 1", "shows only the first rows"),
        ("share of sales", "SELECT 100 * SUM(net) / SUM(net) FROM sales", "divides a number by itself"),
        (
            "highest sales",
            "SELECT net, MAX(s.net) FROM sales AS s GROUP BY s.net",
            "aggregates net, by which",
        ),
    ],
)
def test_groups_periods_and_rows(question: str, sql: str, said: str) -> None:
    assert [each.startswith(said) for each in contradictions(asked(question), sql, SALES)] == [True]


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("sales by region", "SELECT region, SUM(net) FROM sales GROUP BY region"),
        ("sales in 2020", "SELECT SUM(net) FROM sales WHERE day >= '2020-01-01' AND day < '2021-01-01'"),
        ("sales of two regions", "SELECT a.net, b.net FROM sales a JOIN sales b ON a.day = b.day"),
        (
            "best day per region",
            "SELECT DISTINCT ON (region) region, day FROM sales ORDER BY region, net DESC",
        ),
        ("best three days per region", "SELECT day FROM sales ORDER BY net DESC LIMIT 3"),
        ("how many regions reach 9 by day", "SELECT COUNT(*) FROM sales GROUP BY day HAVING COUNT(*) > 9"),
        ("average sales", "SELECT SUM(net) / COUNT(*) FROM sales"),
        ("share of the East", "SELECT SUM(net) FILTER (WHERE region = 'East') / SUM(net) FROM sales"),
        ("sales by region", "not a statement"),
    ],
)
def test_what_says_the_same_contradicts_nothing(question: str, sql: str) -> None:
    assert contradictions(asked(question), sql, SALES) == ()


OF_SINGERS = (
    "SELECT singer.artist_name FROM singer JOIN singer_in_concert ON singer.singer_id = singer_in_concert.singer_id "
    "JOIN concert ON singer_in_concert.concert_id = concert.concert_id"
)


@pytest.mark.parametrize(
    ("question", "sql", "said"),
    [
        (
            "singers who did not sing in 2014",
            f"{OF_SINGERS} WHERE concert.year <> '2014'",
            "finds what has at least one other",
        ),
        (
            "singer with the most concerts",
            "SELECT artist_name FROM singer GROUP BY singer_id ORDER BY COUNT(*) DESC LIMIT 1",
            "counts groups of singer that hold one row",
        ),
    ],
)
def test_one_row_of_many(question: str, sql: str, said: str) -> None:
    assert [each.startswith(said) for each in contradictions(asked(question), sql, MUSIC)] == [True]


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("singers of other years than 2014", f"{OF_SINGERS} WHERE concert.year <> '2014'"),
        ("singers whose country is not France", "SELECT artist_name FROM singer WHERE country <> 'France'"),
        (
            "singer with the most concerts",
            "SELECT singer.artist_name FROM singer JOIN singer_in_concert ON singer.singer_id = "
            "singer_in_concert.singer_id GROUP BY singer.singer_id ORDER BY COUNT(*) DESC LIMIT 1",
        ),
    ],
)
def test_one_row_of_many_that_is_meant(question: str, sql: str) -> None:
    assert contradictions(asked(question), sql, MUSIC) == ()


def test_rows_that_are_added_up_once_for_each_of_others() -> None:
    sql = "SELECT AVG(stadium.capacity) FROM stadium JOIN concert ON stadium.stadium_id = concert.stadium_id"
    assert contradictions(asked("average capacity"), sql, MUSIC) == (
        "adds up rows once for each row of concert",
    )
    assert contradictions(asked("average capacity over all concerts"), sql, MUSIC) == ()
    tested = f"{sql} WHERE concert.year = '2014'"
    said = ("adds up stadium.capacity once for each row of concert",)
    assert contradictions(asked("average capacity in 2014"), tested, MUSIC) == said
    assert contradictions(asked("average capacity in 2014"), tested, MUSIC, DOUBTS) == said


KEYS_ADDED = ("adds_up_keys",)

SUMS = "SELECT {} FROM stadium s LEFT JOIN concert c USING (stadium_id) LEFT JOIN tour t USING (stadium_id)"


@pytest.mark.parametrize(
    ("shown", "rest", "said"),
    [
        ("s.name, SUM(c.year::int), SUM(t.tour_id)", "GROUP BY s.name", 2),
        ("s.name, SUM(c.year::int), COUNT(DISTINCT t.tour_id)", "GROUP BY s.name", 1),
        ("s.name, SUM(t.tour_id)", "WHERE c.year = '2014' GROUP BY s.name", 1),
        ("s.name, MAX(c.year), MAX(t.tour_id)", "GROUP BY s.name", 0),
        ("s.name, AVG(c.year::int), AVG(t.tour_id)", "GROUP BY s.name", 0),
        ("c.year, SUM(s.capacity::int)", "WHERE c.year > '2014' GROUP BY c.year", 0),
        ("SUM(DISTINCT t.tour_id)", "WHERE c.year = '2014'", 0),
    ],
)
def test_sums_of_rows_that_joins_repeat(shown: str, rest: str, said: int) -> None:
    found = contradictions(asked(""), f"{SUMS.format(shown)} {rest}", SCHEMAS["tour"], DOUBTS, off=KEYS_ADDED)
    assert [each.startswith("adds ") for each in found] == [True] * said


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT singer.country FROM concert JOIN singer ON concert.stadium_id = singer.singer_id",
        "SELECT country FROM singer WHERE singer_id IN (SELECT stadium_id FROM concert)",
    ],
)
def test_a_reference_that_is_compared_with_something_else(sql: str) -> None:
    said = "compares concert.stadium_id with singer.singer_id, but it refers to stadium.stadium_id"
    assert contradictions(asked(""), sql, MUSIC) == (said,)


def test_what_a_rule_would_mend_is_not_doubted_where_the_rule_is_off() -> None:
    question, sql = "regions, best first", "SELECT region FROM sales ORDER BY net LIMIT 1"
    assert contradictions(asked(question), sql, SALES) != ()
    assert contradictions(asked(question), sql, SALES, off=("drop_unasked_limit",)) == ()


WORDS = ValueList(("public", "sales", "region"), ("East", "West"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region FROM sales ORDER BY region DESC LIMIT 1",
        "SELECT net FROM sales AS s ORDER BY s.region LIMIT 1",
    ],
)
def test_who_is_first_of_names_is_not_the_greatest(sql: str) -> None:
    said = "takes the first rows by region, which holds text"
    assert contradictions(asked("best region"), sql, SALES, lists=(WORDS,)) == (said,)


PAYMENTS = Snapshot(
    "pay",
    ("public",),
    (
        replace(
            table("pay", "pay_id amt"),
            columns=(Column("amt", "integer"), Column("paid_on", "date"), Column("month", "integer")),
        ),
    ),
)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("WHERE paid_on >= '2020-12-01' AND paid_on < '2021-01-01'", []),
        ("WHERE paid_on >= date_trunc('month', now()) - interval '1 month' AND paid_on < '2021-01-01'", []),
        ("WHERE EXTRACT(MONTH FROM paid_on) = 12", []),
        ("WHERE paid_on >= now() - interval '1 month'", ["covers from 2020-12-06 on"]),
        ("WHERE paid_on >= current_date - 30 AND amt > 1", ["covers from 2020-12-07 on"]),
        ("WHERE amt > 1", ["says nothing about last month"]),
        ("WHERE month = 12", []),
    ],
)
def test_a_statement_covers_the_period_that_is_said(condition: str, said: list[str]) -> None:
    found = contradictions(asked("payments of last month"), f"SELECT amt FROM pay {condition}", PAYMENTS)
    assert [each.partition(",")[0] for each in found] == said
    again = contradictions(
        asked("payments of last month"), f"SELECT amt FROM pay {condition}", PAYMENTS, DOUBTS
    )
    assert again == found


@pytest.mark.parametrize(
    ("question", "sql", "said"),
    [
        ("share paid", "SELECT 100 * COUNT(paid_on) / COUNT(*) FROM pay", ["divides whole numbers"]),
        ("share paid", "SELECT 100.0 * COUNT(paid_on) / COUNT(*) FROM pay", []),
        ("share large", "SELECT SUM((amt > 5)::int) / COUNT(*) FROM pay", ["divides whole numbers"]),
        ("share large", "SELECT SUM((amt > 5)::bigint) / COUNT(*) FROM pay", []),
    ],
)
def test_shares(question: str, sql: str, said: list[str]) -> None:
    assert [each.partition(",")[0] for each in contradictions(asked(question), sql, PAYMENTS, DOUBTS)] == said


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT nam FROM auf a JOIN knd k ON k.kdnr = a.kdnr",
            ["joins by kdnr, which no foreign key declares"],
        ),
        ("SELECT nam FROM auf JOIN knd USING (kdnr)", ["joins by kdnr, which no foreign key declares"]),
        (
            "SELECT nam FROM auf JOIN vtr ON auf.v = vtr.vtrnr",
            ["joins by auf.v = vtr.vtrnr, which no foreign key declares"],
        ),
        ("SELECT nam FROM auf JOIN knd ON auf.v = knd.kdnr", []),
        ("SELECT nam FROM knd WHERE kdnr = 7", []),
    ],
)
def test_a_join_that_nobody_declared_is_named(sql: str, said: list[str]) -> None:
    tables = (table("auf", "aufnr kdnr v"), table("knd", "kdnr nam"), table("vtr", "vtrnr"))
    pairs = ((("auf", "kdnr"), ("knd", "kdnr")), (("auf", "v"), ("vtr", "vtrnr")))
    proposed = tuple((("public", *one), ("public", *other)) for one, other in pairs)
    terse = Snapshot("sales", ("public",), tables, proposed=proposed)
    assert list(contradictions(asked(""), sql, terse, {On.CATALOG})) == said
