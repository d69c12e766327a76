"""Whether two results are the same, and by which columns of its own an ordered one is ordered."""

from __future__ import annotations

import pytest

from engine.judge.result_equivalence import Reference, WithKeys, ordered, same_result, with_keys
from engine.values.ports import Result


def result(types: str, *rows: tuple[str | None, ...], truncated: bool = False) -> Result:
    names = {"i": "integer", "n": "numeric", "t": "text", "d": "date", "s": "timestamp without time zone"}
    columns = tuple((f"c{place}", names[letter]) for place, letter in enumerate(types))
    return Result(columns, tuple(rows), truncated)


AB = result("it", ("1", "a"), ("2", "b"))


@pytest.mark.parametrize(
    "other",
    [
        AB,
        result("it", ("2", "b"), ("1", "a")),
        result("ti", ("a", "1"), ("b", "2")),
        result("nt", ("1.0", "a"), ("2.00", "b")),
    ],
)
def test_same(other: Result) -> None:
    assert same_result(Reference.unordered(AB), other)


@pytest.mark.parametrize(
    "other",
    [
        result("it", ("1", "b"), ("2", "a")),
        result("it", ("1", "a")),
        result("it", ("1", "a"), ("1", "a")),
        result("i", ("1",), ("2",)),
        result("tt", ("1", "a"), ("2", "b")),
        result("it", ("1", "a"), ("2", None)),
        result("it", ("1", "a"), ("2", "b"), truncated=True),
    ],
)
def test_different(other: Result) -> None:
    assert not same_result(Reference.unordered(AB), other)
    assert not same_result(Reference.unordered(other), AB)


def test_order_counts_where_the_known_statement_orders() -> None:
    turned = result("it", ("2", "b"), ("1", "a"))
    assert not same_result(Reference.in_order(AB), turned)
    assert same_result(Reference.in_order(AB), result("ti", ("a", "1"), ("b", "2")))
    assert ordered("SELECT a FROM t ORDER BY a")
    assert ordered("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1")
    assert not ordered("SELECT a FROM (SELECT a FROM t ORDER BY a) s")


TIED = Reference.by_keys(
    result("tn", ("a", "3"), ("b", "2.0"), ("c", "2"), ("d", "1"), ("e", "1.00")), (-1,), added=1, most=4
)
"""Of five names the first four: b and c tie, and so do d and e at the limit."""


@pytest.mark.parametrize(
    ("names", "same"),
    [
        ("abcd", True),
        ("acbd", True),
        ("abce", True),
        ("abde", False),
        ("badc", False),
        ("abcde", False),
        ("abc", False),
        ("abcc", False),
    ],
)
def test_what_ties_comes_in_any_order_and_any_of_it_at_the_limit(names: str, *, same: bool) -> None:
    assert TIED.runs == (0, 1, 1, 3, 3)
    assert same_result(TIED, result("t", *((name,) for name in names))) is same


def test_columns_in_any_order_where_rows_tie_at_the_limit() -> None:
    tied = Reference.by_keys(result("tin", ("a", "1", "2"), ("b", "2", "2")), (-1,), added=1, most=1)
    assert same_result(tied, result("it", ("2", "b")))
    assert not same_result(tied, result("it", ("2", "a")))


@pytest.mark.parametrize(
    ("kind", "left", "right", "same"),
    [
        ("n", "0.1", "0.10000000001", True),
        ("n", "0.1", "0.1001", False),
        ("n", "1000000", "1000001", False),
        ("n", "-0", "0.0", True),
        ("n", "1e3", "1000", True),
        ("n", "NaN", "NaN", True),
        ("n", "100000000000000000001", "100000000000000000002", False),
        ("t", "0.1", "0.10", False),
        ("s", "2024-01-01 00:00:00", "2024-01-01 00:00:01", False),
    ],
)
def test_values(kind: str, left: str, right: str, *, same: bool) -> None:
    assert same_result(Reference.unordered(result(kind, (left,))), result(kind, (right,))) is same


def test_midnight_is_its_date_and_many_columns_are_not_tried_for_ever() -> None:
    timestamps = result("s", ("2024-01-01 00:00:00",))
    assert same_result(Reference.unordered(result("d", ("2024-01-01",))), timestamps)
    assert not same_result(Reference.unordered(result("t", ("2024-01-01",))), timestamps)
    row = tuple("1" for _ in range(12))
    other = (*row[:-1], "2")
    assert same_result(Reference.unordered(result("i" * 12, row)), result("i" * 12, row))
    assert not same_result(Reference.unordered(result("i" * 12, row)), result("i" * 12, other))


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT a FROM t ORDER BY a", ("SELECT a FROM t ORDER BY a", 0, (0,), None)),
        ("SELECT a, b AS n FROM t ORDER BY n, 1", ("SELECT a, b AS n FROM t ORDER BY n, 1", 0, (1, 0), None)),
        # An output name goes before a column of the same name.
        (
            "SELECT a AS c, b AS a FROM t ORDER BY a",
            ("SELECT a AS c, b AS a FROM t ORDER BY a", 0, (1,), None),
        ),
        (
            "SELECT a FROM t GROUP BY a ORDER BY COUNT(*) DESC, SUM(b) LIMIT 3",
            (
                'SELECT a, SUM(b) AS "order key 2", COUNT(*) AS "order key 1" FROM t GROUP BY a '
                "ORDER BY COUNT(*) DESC, SUM(b) FETCH FIRST 3 ROWS WITH TIES",
                2,
                (-1, -2),
                3,
            ),
        ),
        (
            "SELECT *, a + 1 AS n FROM t ORDER BY n",
            ('SELECT *, a + 1 AS n, a + 1 AS "order key 1" FROM t ORDER BY n', 1, (-1,), None),
        ),
        (
            "SELECT a FROM t UNION SELECT b FROM u ORDER BY a FETCH FIRST 2 ROWS ONLY",
            ("SELECT a FROM t UNION SELECT b FROM u ORDER BY a FETCH FIRST 2 ROWS WITH TIES", 0, (0,), 2),
        ),
    ],
)
def test_keys_are_columns(sql: str, found: tuple[str, int, tuple[int, ...], int | None]) -> None:
    assert with_keys(sql) == WithKeys(*found)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT a FROM t ORDER BY a + 1",
        "SELECT a FROM t UNION SELECT b FROM u ORDER BY a + 1",
        "SELECT a FROM t ORDER BY a LIMIT 1 + 1",
    ],
)
def test_keys_that_cannot_be_told(sql: str) -> None:
    assert with_keys(sql) is None
