"""Numbers that a question says and a statement leaves out."""

from __future__ import annotations

import pytest

from engine.question.question import Question
from engine.question.spans import numbers_not_used
from engine.statement.tree import parsed


def left(question: str, sql: str, *names: str) -> list[str]:
    tree = parsed(sql)
    assert tree is not None
    return numbers_not_used(Question(question).numbers, tree, names)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("games of 1885", "SELECT * FROM game WHERE year = 1885"),
        ("games of 1885", "SELECT * FROM game WHERE played BETWEEN '1885-01-01' AND '1885-12-31'"),
        ("those with at least 3 games", "SELECT team FROM game GROUP BY team HAVING COUNT(*) > 2"),
        ("those with more than two games", "SELECT team FROM game GROUP BY team HAVING COUNT(*) >= 3"),
        ("the top 5", "SELECT * FROM game ORDER BY goals DESC LIMIT 5"),
        ("over 1,200 people", "SELECT * FROM game WHERE people > 1200"),
        ("above 1.5 million", "SELECT * FROM game WHERE people > 1500000"),
        ("above 35 %", "SELECT * FROM game WHERE share > 0.35"),
        ("above 1.1 million", "SELECT * FROM game WHERE people > 1100000"),
        ("grades 4,5", "SELECT * FROM pupil WHERE grade IN (4, 5)"),
        ("the last 30 days", "SELECT * FROM game WHERE played > now() - interval '30 days'"),
        ("flights of the 747-400", "SELECT * FROM flight WHERE plane = 'Boeing 747-400'"),
        ("how many games has F16 flown in Q3?", "SELECT COUNT(*) FROM game"),
        ("one of the games", "SELECT * FROM game"),
    ],
)
def test_what_is_said_is_used(question: str, sql: str) -> None:
    assert left(question, sql) == []


def test_what_is_left_out_is_told_as_it_is_said_unless_a_name_says_it() -> None:
    assert left("1,200 games of 1885, and ties of 1", "SELECT * FROM game WHERE ties = 1") == [
        "1,200",
        "1885",
    ]
    assert left("Three games", "SELECT * FROM game LIMIT 10") == ["Three"]
    assert left("results over 100 meter", "SELECT meter_100 FROM swimmer", "meter_100") == []
    assert left("results over 100 meter", "SELECT t100.result FROM swimmer AS t100") == ["100"]
