"""What an ordered statement is ordered by, as columns of its own result."""

from __future__ import annotations

import pytest

from engine.judge.result_equivalence import WithKeys, with_keys


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
