"""The demo's questions with hand-written right answers. Right here: extra columns are forgiven, other rows are not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question as an analyst would put it; each of `gold` is a right answer of another reading."""

    database: str
    text: str
    gold: tuple[str, ...]


_HOME_RUNS = (
    "FROM batting b JOIN people p USING (player_id) WHERE b.year_id = 1998 "
    "GROUP BY p.player_id ORDER BY sum(b.hr) DESC LIMIT 1"
)

QUESTIONS = (
    Question(
        database="flights",
        text="Which airline had the highest average departure delay?",
        gold=(
            (
                "SELECT a.name FROM flights f JOIN airlines a USING (carrier) "
                "GROUP BY a.name ORDER BY avg(f.dep_delay) DESC LIMIT 1"
            ),
            "SELECT carrier FROM flights GROUP BY carrier ORDER BY avg(dep_delay) DESC LIMIT 1",
        ),
    ),
    Question(
        database="baseball",
        text="Which player hit the most home runs in 1998?",
        gold=(
            f"SELECT p.name_first, p.name_last {_HOME_RUNS}",
            f"SELECT p.name_first || ' ' || p.name_last {_HOME_RUNS}",
            f"SELECT p.name_last {_HOME_RUNS}",
            f"SELECT p.player_id {_HOME_RUNS}",
        ),
    ),
    Question(
        database="airports",
        text="How many airports are there in Iceland?",
        gold=("SELECT count(*) FROM airports WHERE country = 'Iceland'",),
    ),
    Question(
        database="sales",
        text="What are total sales by region?",
        gold=(
            "SELECT region, sum(gross_sales) FROM orders GROUP BY region",
            "SELECT region, sum(net_sales) FROM orders GROUP BY region",
            "SELECT r.title, sum(o.gross_sales) FROM orders o JOIN regions r USING (region) GROUP BY r.title",
            "SELECT r.title, sum(o.net_sales) FROM orders o JOIN regions r USING (region) GROUP BY r.title",
        ),
    ),
    Question(
        database="library",
        text="Which book was borrowed most often?",
        gold=(
            (
                "SELECT b.title FROM loans l JOIN books b USING (book_id) "
                "GROUP BY b.book_id ORDER BY count(*) DESC LIMIT 1"
            ),
            "SELECT book_id FROM loans GROUP BY book_id ORDER BY count(*) DESC LIMIT 1",
        ),
    ),
)


ASKED_BACK = ("Which customer has the highest sales?", "NL ANSWER 2", "NL CHOOSE 1")
"""A question that means one of several things, the answer to what is asked back, and the choice of what is left."""

REFUSED = ("What is the weather in Paris tomorrow?",)
"""A question that none of the databases can answer."""


def answers(got: Rows, gold: Rows) -> bool:
    """Whether `got` holds the rows of `gold`, as often each, in any order of rows and columns, or more columns."""
    if len(got) != len(gold):
        return False
    wanted, offered = Counter(map(_comparable, gold)), [_comparable(row) for row in got]
    return not gold or any(
        Counter(tuple(row[at] for at in chosen) for row in offered) == wanted
        for chosen in permutations(range(len(offered[0])), len(gold[0]))
    )


def _comparable(row: Sequence[object]) -> tuple[str | float | None, ...]:
    """Numbers to six digits behind the point, however they are written; all else as text."""
    return tuple(None if value is None else _number(str(value)) for value in row)


def _number(text: str) -> str | float:
    try:
        return round(float(text), 6) if math.isfinite(float(text)) else text
    except ValueError:
        return text
