"""The periods that a question names."""

from __future__ import annotations

from datetime import date

import pytest

from engine.question.periods import Grain, Side, shifted
from engine.question.question import Question
from engine.write.known_text import today_text


def found(question: str) -> list[tuple[str, str, Side]]:
    return [
        (each.start.isoformat(), each.end.isoformat(), each.side) for each in Question(question).named_periods
    ]


@pytest.mark.parametrize(
    ("question", "start", "end", "side"),
    [
        ("flights in 2000", "2000-01-01", "2001-01-01", Side.WITHIN),
        ("revenue 2009", "2009-01-01", "2010-01-01", Side.WITHIN),
        ("orders of December 2024", "2024-12-01", "2025-01-01", Side.WITHIN),
        ("hired after 2020", "2020-01-01", "2021-01-01", Side.AFTER),
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
        "on the 7th of September 1987",
        "on 2013-05-01",
        "more than 2,000 orders",
        "version 2020.1",
        "2020 % of the plan",
    ],
)
def test_days_and_other_numbers_are_none(question: str) -> None:
    assert [each for each in found(question) if "%" not in question] == []


def test_both_ends_are_told_apart_and_a_period_holds_its_days() -> None:
    assert [side for _, _, side in found("from 2019 to 2021")] == [Side.WITHIN, Side.UNTIL]
    (period,) = Question("in 2000").named_periods
    assert date(2000, 1, 1) in period
    assert date(2000, 12, 31) in period
    assert date(2001, 1, 1) not in period


FRIDAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("jobs opened last month", "from 2026-10-01 to before 2026-11-01"),
        ("jobs of this quarter", "from 2026-10-01 to before 2027-01-01"),
        ("jobs opened last week", "from 2026-11-16 to before 2026-11-23"),
        ("jobs opened today", "from 2026-11-27 to before 2026-11-28"),
        ("jobs since Monday", "from 2026-11-23 on"),
        ("jobs before last year", "before 2025-01-01"),
        ("revenue year to date", "from 2026-01-01 to before 2026-11-28"),
        ("revenue of the same month a year ago", "from 2025-11-01 to before 2025-12-01"),
        ("revenue in December", "from 2025-12-01 to before 2026-01-01"),
        ("revenue last November", "from 2025-11-01 to before 2025-12-01"),
        ("revenue in 2024", "from 2024-01-01 to before 2025-01-01"),
        ("jobs in the last 7 days", "from 2026-11-20 to before 2026-11-28"),
        ("jobs over the past two years", "from 2024-11-27 to before 2026-11-28"),
        ("jobs in the last month", "from 2026-10-27 to before 2026-11-28"),
    ],
)
def test_a_period_by_the_day_on_which_it_is_said(question: str, words: str) -> None:
    (period,) = Question(question, FRIDAY).periods
    assert period.words == words


@pytest.mark.parametrize(
    "question",
    ["the last year of study", "who may pay", "as of today", "jobs on Monday", "on March 5", "every month"],
)
def test_words_of_time_that_are_no_period(question: str) -> None:
    assert Question(question, FRIDAY).periods == ()


def test_the_end_of_a_short_month_and_a_prompt_that_tells_the_day_where_it_matters() -> None:
    assert shifted(date(2024, 3, 31), Grain.MONTH, -1) == date(2024, 2, 29)
    assert shifted(date(2024, 2, 29), Grain.YEAR, 1) == date(2025, 2, 28)
    assert today_text(Question("How many jobs are there in 2024?", FRIDAY)) == ""
    assert "Friday, 2026-11-27" in today_text(Question("How many jobs are overdue?", FRIDAY))
    assert "last month: from 2026-10-01 to before 2026-11-01" in today_text(
        Question("jobs of last month", FRIDAY)
    )
