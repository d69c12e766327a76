"""What a statement says otherwise than the question."""

from __future__ import annotations

import pytest

from engine.ranking.contradictions import contradictions


@pytest.mark.parametrize(
    ("question", "sql", "said"),
    [
        ("sales by region", "SELECT SUM(net) FROM sales", "gives one number for all, not for each region"),
        ("sales in 2020", "SELECT SUM(net) FROM sales WHERE day = '2020-01-01'", "reads 2020 as one day"),
        ("regions, best first", "SELECT region FROM sales ORDER BY net LIMIT 1", "leaves out rows"),
    ],
)
def test_groups_periods_and_rows(question: str, sql: str, said: str) -> None:
    assert [each.startswith(said) for each in contradictions(question, sql)] == [True]


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("sales by region", "SELECT region, SUM(net) FROM sales GROUP BY region"),
        ("sales in 2020", "SELECT SUM(net) FROM sales WHERE day >= '2020-01-01' AND day < '2021-01-01'"),
        ("best region", "SELECT region FROM sales ORDER BY net LIMIT 1"),
        ("sales by region", "not a statement"),
    ],
)
def test_what_says_the_same_contradicts_nothing(question: str, sql: str) -> None:
    assert contradictions(question, sql) == ()
