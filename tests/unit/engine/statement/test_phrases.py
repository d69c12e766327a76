"""Statements in words: nothing that tells two apart is lost, spelling is."""

from __future__ import annotations

import pytest

from engine.statement.description import phrases


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT name FROM singer", ("show singer name", "from singer")),
        (
            "SELECT DISTINCT s.name FROM singer AS s WHERE s.age > 20 AND s.country = 'France'",
            (
                "show distinct singer name",
                "from singer",
                "where singer age is more than 20",
                "where singer country is 'France'",
            ),
        ),
        (
            "SELECT T1.name FROM concert AS T1 JOIN stadium AS T2 ON T1.stadium_id = T2.stadium_id"
            " ORDER BY T2.capacity DESC LIMIT 1",
            (
                "show concert name",
                "from concert",
                "from stadium",
                "ordered by stadium capacity descending",
                "limited to 1",
                "joined by concert stadium id",
                "joined by stadium id",
            ),
        ),
        (
            "SELECT name FROM a EXCEPT SELECT name FROM b",
            ("show a name", "from a", "without b name from b"),
        ),
    ],
)
def test_a_statement_is_one_phrase_a_unit(sql: str, said: tuple[str, ...]) -> None:
    assert phrases(sql) == said


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SELECT s.name FROM singer s", "SELECT singer.name FROM singer"),
        ("SELECT s.* FROM singer s", "SELECT singer.* FROM singer"),
        (
            "SELECT a.x FROM a JOIN b ON a.id = b.aid",
            'SELECT "t1"."x" FROM "a" AS "t1" JOIN "b" AS "t2" ON "t2"."aid" = "t1"."id"',
        ),
    ],
)
def test_spelling_makes_no_difference(left: str, right: str) -> None:
    assert phrases(left) == phrases(right) != ()


@pytest.mark.parametrize(
    "other",
    [
        "SELECT x FROM a WHERE y >= 1",
        "SELECT x FROM a WHERE NOT y > 1",
        "SELECT x FROM a WHERE y > 2",
        "SELECT y FROM a WHERE y > 1",
        "SELECT max(x) FROM a WHERE y > 1",
        "SELECT x FROM a WHERE y > 1 LIMIT 1",
        "SELECT x FROM b WHERE y > 1",
    ],
)
def test_statements_that_differ_have_other_phrases(other: str) -> None:
    assert phrases(other) != phrases("SELECT x FROM a WHERE y > 1")


@pytest.mark.parametrize("sql", ["", "SELECT (", "DROP TABLE a"])
def test_what_is_no_query_has_no_phrases(sql: str) -> None:
    assert phrases(sql) == ()
