"""What is put right by rule, and what is left as it was written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine.rewrite.rules.mending import mended, unknown_apart

from engine.sql.resolution import resolve
from schema_catalog.types import TableKind
from tests.support.schemas import MUSIC

PUT_RIGHT = [
    (
        "SELECT AVG(capacity) FROM stadium WHERE capacity > 3",
        "SELECT AVG(CAST(SUBSTRING(capacity FROM '^[-+]?[0-9]+[.]?[0-9]*') AS DECIMAL)) FROM stadium"
        " WHERE CAST(SUBSTRING(capacity FROM '^[-+]?[0-9]+[.]?[0-9]*') AS DECIMAL) > 3",
    ),
    (
        "SELECT country FROM singer ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT country FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1",
    ),
    (
        "SELECT T1.title FROM stadium AS T1 JOIN concert AS T2 ON T1.stadium_id = T2.stadium_id",
        "SELECT t2.title FROM stadium AS t1 JOIN concert AS t2 ON t1.stadium_id = t2.stadium_id",
    ),
    (
        "SELECT s.name FROM concert c JOIN stadium s ON c.concert_id = s.stadium_id",
        "SELECT s.name FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id",
    ),
    (
        "SELECT s.artist_name FROM concert c JOIN singer s ON c.concert_id = s.singer_id",
        "SELECT singer.artist_name FROM concert AS c JOIN singer_in_concert"
        " ON c.concert_id = singer_in_concert.concert_id JOIN singer ON singer_in_concert.singer_id = singer.singer_id",
    ),
    (
        "SELECT c.title FROM concert AS c WHERE c.capacity = '3'",
        "SELECT c.title FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id"
        " WHERE stadium.capacity = '3'",
    ),
    (
        "SELECT title FROM concert ORDER BY capacity LIMIT 1",
        "SELECT concert.title FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id"
        " ORDER BY stadium.capacity LIMIT 1",
    ),
    (
        "SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1",
        "SELECT name FROM stadium ORDER BY capacity DESC NULLS LAST LIMIT 1",
    ),
    (
        "SELECT artist_name, country, COUNT(*) FROM singer GROUP BY country",
        "SELECT artist_name, country, COUNT(*) FROM singer GROUP BY country, artist_name",
    ),
    (
        "SELECT country FROM singer GROUP BY country ORDER BY artist_name",
        "SELECT country FROM singer GROUP BY country, artist_name ORDER BY artist_name",
    ),
    (
        "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT concert_id FROM concert)",
        "SELECT name FROM stadium WHERE NOT stadium_id IN (SELECT stadium_id FROM concert)",
    ),
]

LEFT_ALONE = [
    "SELECT MAX(capacity) FROM stadium WHERE capacity > '3'",
    "SELECT COUNT(*) FROM singer ORDER BY COUNT(*)",
    "SELECT artist_name, COUNT(*) FROM singer GROUP BY singer_id",
    "SELECT artist_name, COUNT(*) FROM singer",
    "SELECT upper(country), COUNT(*) FROM singer GROUP BY upper(country)",
    "SELECT name FROM stadium WHERE name IN (SELECT title FROM concert)",
    "SELECT artist_name FROM singer WHERE singer_id IN (SELECT concert_id FROM concert)",
    "SELECT s.name FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id",
    "SELECT c.title FROM concert c LEFT JOIN stadium s ON c.concert_id = s.stadium_id",
    "SELECT a.country FROM singer a JOIN singer b ON a.country = b.artist_name",
    "SELECT country FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT name FROM stadium ORDER BY capacity LIMIT 1",
    "SELECT country, COUNT(*) AS many FROM singer GROUP BY country ORDER BY many",
    "SELECT x.title FROM (SELECT title FROM concert) AS x",
    "not SQL at all (",
]


@pytest.mark.parametrize(("written", "right"), PUT_RIGHT)
def test_is_put_right(written: str, right: str) -> None:
    assert mended(written, MUSIC) == right
    assert resolve(right, MUSIC).problems == ()


@pytest.mark.parametrize("sql", LEFT_ALONE)
def test_is_left_as_written(sql: str) -> None:
    assert mended(sql, MUSIC) == sql


@pytest.mark.parametrize("sql", [right for _, right in PUT_RIGHT])
def test_what_is_right_stays(sql: str) -> None:
    assert mended(sql, MUSIC) == sql


def test_a_views_key_groups_nothing() -> None:
    view = replace(MUSIC.tables[1], kind=TableKind.VIEW)
    snapshot = replace(MUSIC, tables=(MUSIC.tables[0], view, *MUSIC.tables[2:]))
    sql = "SELECT artist_name, COUNT(*) FROM singer GROUP BY singer_id"
    assert mended(sql, snapshot) == f"{sql}, artist_name"


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        (
            "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert WHERE year = '3')",
            "SELECT name FROM stadium WHERE NOT stadium_id IN"
            " (SELECT stadium_id FROM concert WHERE year = '3' AND NOT stadium_id IS NULL)",
        ),
        ("SELECT title FROM concert WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)", None),
        ("SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM concert)", None),
        ("SELECT name FROM stadium WHERE NOT stadium_id IN (1, 2)", None),
        (
            "SELECT name FROM stadium WHERE NOT stadium_id IN"
            " (SELECT stadium_id FROM concert WHERE NOT stadium_id IS NULL)",
            None,
        ),
        ("not SQL at all (", None),
    ],
)
def test_one_unknown_does_not_exclude_everything(sql: str, kept: str | None) -> None:
    assert unknown_apart(sql, MUSIC) == (kept or sql)
