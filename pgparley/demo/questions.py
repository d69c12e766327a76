"""The demo's questions with hand-written right answers. Right here: extra columns are forgiven, other rows are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import permutations

Rows = Sequence[Sequence[object]]

_TOLERANCE = Decimal("1e-6")


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
    if not gold:
        return True
    wanted = [[_comparable(value) for value in row] for row in gold]
    offered = [[_comparable(value) for value in row] for row in got]
    return any(
        _same(wanted, [[row[at] for at in chosen] for row in offered])
        for chosen in permutations(range(len(offered[0])), len(wanted[0]))
    )


def _same(wanted: list[list[Decimal | str | None]], offered: list[list[Decimal | str | None]]) -> bool:
    left = list(offered)
    for row in wanted:
        match = next((at for at, other in enumerate(left) if all(map(_equal, row, other))), None)
        if match is None:
            return False
        del left[match]
    return True


def _equal(one: Decimal | str | None, other: Decimal | str | None) -> bool:
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return abs(one - other) <= _TOLERANCE
    return one == other


def _comparable(value: object) -> Decimal | str | None:
    if value is None:
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return str(value)
    return number if number.is_finite() else str(value)
