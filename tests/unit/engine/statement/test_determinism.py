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


@pytest.mark.parametrize("sql", REPEATABLE + UNREPEATABLE)
def test_whether_it_gives_the_same_again(sql: str) -> None:
    assert bool(determinism(sql).repeatable) is (sql in REPEATABLE)


def test_the_outermost_order_counts() -> None:
    assert determinism("SELECT a FROM t ORDER BY a").ordered
    assert determinism("SELECT a FROM t UNION SELECT b FROM t ORDER BY 1").ordered
    assert not determinism("SELECT a FROM (SELECT a FROM t ORDER BY a) AS s").ordered


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a > 3", "3 < a", True),
        ("t.a > 3", "(a > 3)", True),
        ("a > 3", "a >= 3", False),
        ("a > 3", "a < 3", False),
        ("a = 3", "NOT a = 3", False),
        ("a IN (3)", "NOT a IN (3)", False),
        ("a LIKE 'x%'", "a LIKE 'x%' AND b IS NOT NULL", False),
        ("a = 3", "a = 3 AND gone", False),
        ("a = 3", "a = 3 AND NOT gone", False),
        ("gone", "NOT gone", False),
        ("a = 3", "3 = a", True),
    ],
)
def test_conditions(one: str, other: str, *, same: bool) -> None:
    left, right = (determinism(f"SELECT count(*) FROM t WHERE {each}").conditions for each in (one, other))
    assert (left == right) is same


def test_null_is_no_condition_of_what_is_sorted_by_or_aggregated() -> None:
    for tail in ("a IS NOT NULL ORDER BY a DESC LIMIT 1", "NOT a IS NULL ORDER BY a DESC LIMIT 1"):
        assert not determinism(f"SELECT a FROM t WHERE {tail}").conditions
    assert not determinism("SELECT max(a) FROM t WHERE a IS NOT NULL").conditions
    assert determinism("SELECT max(a) FROM t WHERE a IS NULL").conditions
    assert determinism("SELECT count(*) FROM t WHERE a IS NOT NULL").conditions


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
