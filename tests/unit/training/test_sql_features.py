"""Operators and hardness, read off statements."""

from __future__ import annotations

import pytest

from engine.conditions.types import Condition, Hardness, Operator, StatementKind, words
from training.sql_features import kind_of

JOINED = "SELECT a.x FROM a JOIN b ON a.id = b.id"
COUNTED = "SELECT a.x, count(*) FROM a JOIN b ON a.id = b.id JOIN c ON b.k = c.k GROUP BY a.x"


@pytest.mark.parametrize(
    ("sql", "operators", "hardness"),
    [
        ("SELECT x FROM a", "", Hardness.EASY),
        ("SELECT count(DISTINCT x) FROM a", "count distinct", Hardness.EASY),
        ("SELECT x, y FROM a ORDER BY y DESC", "order", Hardness.MEDIUM),
        (f"{JOINED} WHERE b.y = 1", "join where", Hardness.MEDIUM),
        (COUNTED, "join group count", Hardness.HARD),
        ("SELECT x FROM a WHERE y > (SELECT avg(y) FROM a)", "where nested avg", Hardness.HARD),
        ("SELECT x FROM a EXCEPT SELECT x FROM b", "except", Hardness.HARD),
        (
            "SELECT avg(x) FROM a WHERE y NOT IN (SELECT y FROM b)",
            "where nested avg",
            Hardness.EXTRA,
        ),
        (
            f"{JOINED} WHERE b.y = 1 GROUP BY a.x ORDER BY count(*) DESC LIMIT 1",
            "join where group order limit count",
            Hardness.EXTRA,
        ),
        ("SELECT x FROM a GROUP BY x HAVING count(*) > 2", "group having count", Hardness.EASY),
    ],
)
def test_a_statement_has_its_operators_and_spiders_hardness(
    sql: str, operators: str, hardness: Hardness
) -> None:
    assert kind_of(sql) == StatementKind(frozenset(map(Operator, operators.split())), hardness)


@pytest.mark.parametrize("sql", ["DELETE FROM a", "SELECT (", ""])
def test_what_is_no_query_has_no_kind(sql: str) -> None:
    assert kind_of(sql) is None


def test_a_condition_is_one_line_that_names_its_operators() -> None:
    kind = StatementKind(frozenset({Operator.JOIN, Operator.GROUP, Operator.COUNT}), Hardness.MEDIUM)
    line = words(Condition(kind, 0.5))
    assert line == "The statement is medium. It reads: join tables, group (GROUP BY), count."
    bare = words(Condition(StatementKind(frozenset(), Hardness.EASY), 0.5))
    assert bare == "The statement is easy. It reads: one table."
