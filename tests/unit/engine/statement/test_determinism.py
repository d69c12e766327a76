"""What a statement's rows can prove."""

from __future__ import annotations

import pytest

from engine.statement.tree import determinism

REPEATABLE = [
    "SELECT a FROM t",
    "SELECT DISTINCT a FROM t",
    "SELECT a FROM t ORDER BY a LIMIT 1",
    "SELECT max(a) FROM t WHERE b = 'tomorrow never dies'",
    "SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3) AS s",
]
UNREPEATABLE = [
    "SELECT a FROM t LIMIT 1",
    "SELECT a FROM t OFFSET 1",
    "SELECT a FROM (SELECT a FROM t LIMIT 3) AS s ORDER BY a",
    "SELECT DISTINCT ON (a) a, b FROM t",
    "SELECT now()",
    "SELECT a FROM t WHERE day < current_date",
    "SELECT age(born) FROM t",
    "SELECT a FROM t WHERE day > 'yesterday'",
    "SELECT a FROM t TABLESAMPLE system (10)",
    "SELECT a FROM t ORDER BY random()",
    "SELECT a FROM t WHERE pg_catalog.random() < 0.1",
    "SELECT a FROM t WHERE b IN (SELECT gen_random_uuid()::text)",
    "SELECT clock_timestamp() - a FROM t",
]


@pytest.mark.parametrize("sql", REPEATABLE)
def test_repeatable(sql: str) -> None:
    assert determinism(sql).repeatable


@pytest.mark.parametrize("sql", UNREPEATABLE)
def test_unrepeatable(sql: str) -> None:
    assert not determinism(sql).repeatable


def test_the_outermost_order_counts() -> None:
    assert determinism("SELECT a FROM t ORDER BY a").ordered
    assert determinism("SELECT a FROM t UNION SELECT b FROM t ORDER BY 1").ordered
    assert not determinism("SELECT a FROM (SELECT a FROM t ORDER BY a) AS s").ordered


def test_literals_and_functions() -> None:
    one = determinism("SELECT max(a) FROM t WHERE b = 'x' AND c > 3 ORDER BY 1 LIMIT 7")
    other = determinism("SELECT max(a) FROM t WHERE c > 3 AND 'x' = b ORDER BY 1 LIMIT 8")
    assert one.literals == other.literals
    assert one.functions == {"max"}
    assert one.literals != determinism("SELECT a FROM t WHERE b = 'x' AND c > 4").literals
    assert (
        determinism("SELECT a FROM t WHERE b = '3'").literals
        != determinism("SELECT a FROM t WHERE b = 3").literals
    )
    assert determinism("SELECT NULL").literals == {"NULL"}
