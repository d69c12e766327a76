"""Expressions in words without SQL."""

from __future__ import annotations

import pytest
from sqlglot import exp

from engine.ask.wording import Names
from engine.statement.expressions import Reader
from engine.statement.scope import Scopes
from engine.statement.tree import parsed
from tests.support.schemas import MUSIC


def words(expression: str) -> str:
    tree = parsed(f"SELECT {expression} FROM stadium")
    assert isinstance(tree, exp.Select)
    parts = Reader(Scopes(tree, MUSIC), {}).parts(tree.expressions[0])
    return Names(frozenset()).said(parts)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("name", "name"),
        ("stadium.name::text AS n", "name"),
        ("COUNT(*)", "number of rows"),
        ("COUNT(DISTINCT name)", "number of different name values"),
        ("AVG(capacity)", "average capacity"),
        ("stadium_id + 1", "stadium id plus 1"),
        ("EXTRACT(YEAR FROM name)", "year of name"),
        ("EXTRACT(EPOCH FROM name)", "seconds of name"),
        ("name = 'A'", "name is 'A'"),
        ("name <> 'A'", "name is not 'A'"),
        ("NOT (stadium_id > 3 OR name = 'A')", "stadium id is at most 3 and name is not 'A'"),
        ("stadium_id BETWEEN 1 AND -2", "stadium id is between 1 and -2"),
        ("name IN ('A', 'B')", "name is 'A' or 'B'"),
        ("name IS NULL", "name is unknown"),
        ("name LIKE '%A%'", "name contains 'A'"),
        ("name NOT LIKE '%A'", "name does not end with 'A'"),
        ("stadium_id IN (SELECT stadium_id FROM stadium)", "stadium id is one of those"),
        ("stadium_id > (SELECT AVG(concert_id) FROM concert)", "stadium id is more than average concert id"),
        ("NOT EXISTS (SELECT 1 FROM singer_in_concert)", "there is no singer in concert"),
        ("COUNT(*) FILTER (WHERE name = 'A')", "number of rows if name is 'A'"),
        (
            "RANK() OVER (PARTITION BY name ORDER BY capacity DESC)",
            "rank for each name by capacity descending",
        ),
        (
            "CASE name WHEN 'A' THEN 1 WHEN 'B' THEN 2 ELSE 3 END",
            "1 if name is 'A' otherwise 2 if name is 'B' otherwise 3",
        ),
        ("SUM(CASE WHEN name = 'A' THEN 1 ELSE 0 END)", "number of rows where name is 'A'"),
        ("my_function(name, 2)", "my function of name and 2"),
        ("CURRENT_DATE - INTERVAL '3 months'", "today minus 3 months"),
    ],
)
def test_an_expression_in_words(expression: str, said: str) -> None:
    assert words(expression) == said
