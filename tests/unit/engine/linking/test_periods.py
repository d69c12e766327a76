"""The periods that a question names."""

from __future__ import annotations

from datetime import date

import pytest

from engine.linking.dimensions import Side, named_periods


def found(question: str) -> list[tuple[str, str, Side]]:
    return [(each.start.isoformat(), each.end.isoformat(), each.side) for each in named_periods(question)]


@pytest.mark.parametrize(
    ("question", "start", "end", "side"),
    [
        ("flights in 2000", "2000-01-01", "2001-01-01", Side.WITHIN),
        ("revenue 2009", "2009-01-01", "2010-01-01", Side.WITHIN),
        ("orders of December 2024", "2024-12-01", "2025-01-01", Side.WITHIN),
        ("orders in Sept. 2024", "2024-09-01", "2024-10-01", Side.WITHIN),
        ("orders in May, 2024", "2024-05-01", "2024-06-01", Side.WITHIN),
        ("hired after 2020", "2020-01-01", "2021-01-01", Side.AFTER),
        ("hired later than 2020", "2020-01-01", "2021-01-01", Side.AFTER),
        ("since the year 1999", "1999-01-01", "2000-01-01", Side.SINCE),
        ("before Q3 2021", "2021-07-01", "2021-10-01", Side.BEFORE),
        ("until the fourth quarter of 2021", "2021-10-01", "2022-01-01", Side.UNTIL),
    ],
)
def test_a_year_a_quarter_and_a_month(question: str, start: str, end: str, side: Side) -> None:
    assert found(question) == [(start, end, side)]


@pytest.mark.parametrize(
    "question",
    [
        "on January 5, 2020",
        "on 5 March 2020",
        "on the 7th of September 1987",
        "after 7th September, 1987",
        "on 2013-05-01",
        "more than 2,000 orders",
        "orders 20201",
        "version 2020.1",
        "2020 % of the plan",
    ],
)
def test_days_and_other_numbers_are_none(question: str) -> None:
    assert [each for each in found(question) if "%" not in question] == []


def test_both_ends_are_told_apart() -> None:
    assert [side for _, _, side in found("from 2019 to 2021")] == [Side.WITHIN, Side.UNTIL]


def test_a_period_holds_its_days() -> None:
    (period,) = named_periods("in 2000")
    assert date(2000, 1, 1) in period
    assert date(2000, 12, 31) in period
    assert date(2001, 1, 1) not in period
