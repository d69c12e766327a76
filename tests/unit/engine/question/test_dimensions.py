"""What a question asks a number for each of."""

from __future__ import annotations

import pytest
from sqlglot import exp

from engine.question.dimensions import dimensions_not_grouped
from engine.question.periods import Grain
from engine.question.question import Question
from engine.statement.tree import parsed


def texts(question: str) -> list[str]:
    return [each.text for each in Question(question).dimensions]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("average track length per genre, in minutes", ["genre"]),
        ("What is the number of loans for each branch?", ["branch"]),
        ("total sales grouped by the region", ["region"]),
        ("sales by region, by quarter", ["region", "quarter"]),
        ("How many songs are there by Ann?", []),
        ("products sorted by price", []),
        ("best sellers among the staff by net sales", []),
        ("How many orders are there?", []),
    ],
)
def test_it_is_what_follows_per_each_and_by(question: str, expected: list[str]) -> None:
    assert texts(question) == expected


@pytest.mark.parametrize(
    ("question", "grain"),
    [
        ("monthly revenue 2009", Grain.MONTH),
        ("orders per year", Grain.YEAR),
        ("average load by hour", Grain.HOUR),
    ],
)
def test_lengths_of_time_are_told_apart(question: str, grain: Grain) -> None:
    assert [each.grain for each in Question(question).dimensions] == [grain]


def left_out(question: str, sql: str) -> tuple[str, ...]:
    tree = parsed(sql)
    assert isinstance(tree, exp.Query)
    return dimensions_not_grouped(Question(question).dimensions, tree)


def test_one_number_for_all_is_not_one_for_each() -> None:
    question = "average price per category"
    assert left_out(question, "SELECT AVG(price) FROM product") == ("category",)
    assert left_out(question, "SELECT category, AVG(price) FROM product GROUP BY category") == ()
    assert left_out(question, "SELECT category, price FROM product") == (), "no number"
    assert left_out(question, "SELECT AVG(price) OVER () FROM product") == (), "a number for each row"
    assert (
        left_out(question, "SELECT price FROM product WHERE price > (SELECT AVG(price) FROM product)") == ()
    )


def test_what_is_part_of_a_measures_name_is_no_group() -> None:
    assert left_out("average hours per week", "SELECT AVG(hoursperweek) FROM job") == ()
    assert left_out("average hours per week", "SELECT AVG(hours_per_week) FROM job") == ()
    assert left_out("total monthly rent", "SELECT SUM(monthly_rent) FROM flat") == ()
    assert left_out("total monthly rent", "SELECT SUM(rent) FROM flat") == ("monthly",)
