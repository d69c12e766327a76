"""A statement in words, without its SQL."""

from __future__ import annotations

import pytest

from engine.core.candidate import Candidate
from engine.dialogue.description import describe
from engine.dialogue.explanation import explain


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT region, SUM(gross_sales) AS total FROM orders GROUP BY region",
            "region, total gross sales from orders for each region",
        ),
        (
            "SELECT name FROM singer WHERE country = 'France' AND age > 30 ORDER BY age DESC LIMIT 3",
            "name from singer where country is 'France' and age is more than 30 ordered by age descending limited to 3",
        ),
        (
            "SELECT count(*) FROM a JOIN b ON a.id = b.id WHERE b.d >= date '2020-01-01' HAVING count(*) > 3",
            "number of rows from a with b where d is at least '2020-01-01' having number of rows is more than 3",
        ),
        ("no statement", ""),
    ],
)
def test_words(sql: str, words: str) -> None:
    assert describe(sql) == words


def test_a_meaning_that_is_the_statement_is_not_repeated() -> None:
    sql = "SELECT name FROM singer WHERE age > 30"
    said = explain(Candidate("music", sql, meaning=sql), Candidate("music", sql))
    assert said == "name from singer where age is more than 30"
    told = Candidate("music", sql, meaning="the singers above thirty.")
    assert explain(told, told) == "the singers above thirty"
