"""How known statements are counted that contradict their questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.contradictions import Known, counted
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC


class Alike:
    """An encoder to which all texts are the same."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


def test_groups_and_rows() -> None:
    questions = [
        ("How many concerts are there per year?", "SELECT year, COUNT(*) FROM concert GROUP BY year"),
        ("How many concerts are there per year?", "SELECT title, COUNT(*) FROM concert GROUP BY title"),
        ("How many concerts are there per year?", "SELECT COUNT(*) FROM concert"),
        ("titles in alphabetical order", "SELECT title FROM concert ORDER BY title"),
        ("titles sorted by year", "SELECT title FROM concert ORDER BY year LIMIT 1"),
        ("concerts in 2014", "SELECT title FROM concert WHERE year = 2014"),
        ("concerts in 2015", "SELECT title FROM concert WHERE year = 2014 OR title = 'x'"),
        ("two concerts", "SELECT title FROM concert LIMIT 10"),
        (
            "Which concerts were held in the stadium?",
            "SELECT title FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id",
        ),
    ]
    assert counted([Known(question, MUSIC, sql) for question, sql in questions], Alike()) == {
        "asks for all rows": 6,
        "asks for groups and has them": 2,
        "contradicts: gives one number for …": 1,
        "contradicts: leaves out rows that …": 1,
        "groups taken out: found again": 1,
        "groups taken out: others, or none": 1,
        "says: counts rows of groups": 2,
        "says: groups": 2,
        "says: shows several": 2,
        "says: the direction of all rows": 1,
        "says: compares columns of two tables": 1,
        "says: the first rows of an order": 1,
        "says a number": 3,
        "leaves out a number": 1,
    }


def test_extremes_of_groups() -> None:
    terse = SCHEMAS["terse"]
    statements = [
        "SELECT dpt_id, MAX(amt) FROM pay GROUP BY dpt_id",
        "SELECT MIN(amt) FROM pay GROUP BY dpt_id",
        "SELECT dpt_id, MAX(pd_on) FROM pay GROUP BY dpt_id",
        "SELECT dpt_id, MAX(amt) FROM pay GROUP BY dpt_id HAVING COUNT(*) > 1",
        "SELECT MAX(amt) FROM pay",
    ]
    found = counted([Known("what was paid", terse, sql) for sql in statements], Alike())
    assert found["shows an extreme number of each group"] == 2
    assert found["contradicts: gives numbers of groups, …"] == 1


def test_totals_that_are_asked_for() -> None:
    terse = SCHEMAS["terse"]
    questions = [
        ("How much was paid?", "SELECT SUM(amt) FROM pay"),
        ("total payments of department 3", "SELECT SUM(amt) FROM pay WHERE dpt_id = 3"),
        ("How much was payment 7?", "SELECT amt FROM pay WHERE pay_id = 7"),
        ("payments of department 3", "SELECT amt FROM pay WHERE dpt_id = 3"),
        ("How many payments?", "SELECT COUNT(*) FROM pay"),
        ("total payments of each department", "SELECT SUM(amt) FROM pay"),
        ("How much was paid first?", "SELECT amt FROM pay ORDER BY pd_on LIMIT 1"),
    ]
    found = counted([Known(question, terse, sql) for question, sql in questions], Alike())
    assert found["asks how many: adds up a column of numbers"] == 2
    assert found["asks how many: shows a column of numbers"] == 1
