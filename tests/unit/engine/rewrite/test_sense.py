"""Statements whose outcome is known before they run, and those that only look like them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine.rewrite.rules.sense import senseless, with_what_refers

from tests.support.schemas import MUSIC, table

KNOWN = {
    "SELECT name, COUNT(*) FROM stadium GROUP BY stadium_id": "each group is one row of stadium",
    "SELECT name FROM stadium GROUP BY stadium_id HAVING COUNT(*) > 1": "each group is one row of stadium",
    "SELECT COUNT(*) FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id GROUP BY c.concert_id": (
        "each group is one row of concert and stadium"
    ),
    "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)": (
        "no row is left: stadium.stadium_id"
    ),
}

MEANT = [
    "SELECT name FROM stadium GROUP BY stadium_id",
    "SELECT country, COUNT(*) FROM singer GROUP BY country",
    "SELECT s.name, COUNT(*) FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id GROUP BY s.stadium_id",
    "SELECT COUNT(c.title) FROM stadium s LEFT JOIN concert c ON s.stadium_id = c.stadium_id GROUP BY s.stadium_id",
    "SELECT x.title, COUNT(*) FROM (SELECT title FROM concert) AS x GROUP BY x.title",
    "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert)",
    "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium WHERE capacity = '3')",
    "SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM stadium)",
    "SELECT COUNT(*) FROM stadium",
    "not SQL at all (",
]


@pytest.mark.parametrize("sql", KNOWN)
def test_the_reason_is_said(sql: str) -> None:
    reason = senseless(sql, MUSIC)
    assert reason is not None
    assert reason.startswith(KNOWN[sql])


def near(table: tuple[str, str]) -> float:
    return {"concert": 0.4, "singer_in_concert": 0.6}.get(table[1], 0.0)


@pytest.mark.parametrize(
    ("sql", "right"),
    [
        (
            "SELECT name, COUNT(*) FROM stadium GROUP BY stadium_id",
            "SELECT stadium.name, COUNT(*) FROM stadium JOIN concert ON stadium.stadium_id = concert.stadium_id"
            " GROUP BY stadium.stadium_id",
        ),
        (
            "SELECT COUNT(*) FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id GROUP BY c.concert_id",
            "SELECT COUNT(*) FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id"
            " JOIN singer_in_concert ON c.concert_id = singer_in_concert.concert_id GROUP BY c.concert_id",
        ),
        (
            "SELECT artist_name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM singer)",
            "SELECT artist_name FROM singer WHERE NOT singer_id IN (SELECT singer_id FROM singer_in_concert)",
        ),
    ],
)
def test_what_refers_to_a_table_is_counted_or_excluded_in_its_place(sql: str, right: str) -> None:
    assert with_what_refers(sql, MUSIC, near) == right
    assert senseless(right, MUSIC) is None


def test_of_several_references_the_nearest_table_is_taken() -> None:
    tour = table("tour", "tour_id stadium_id", ("stadium_id", "stadium", "stadium_id"))
    snapshot = replace(MUSIC, tables=(*MUSIC.tables, tour))
    sql = "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)"
    assert with_what_refers(sql, snapshot, lambda key: float(key[1] == "tour")).endswith("FROM tour)")
    assert with_what_refers(sql, snapshot, lambda key: float(key[1] == "concert")).endswith("FROM concert)")


def test_where_nothing_refers_to_a_table_the_statement_stays() -> None:
    sql = "SELECT entry_id FROM singer_in_concert WHERE entry_id NOT IN (SELECT entry_id FROM singer_in_concert)"
    assert with_what_refers(sql, MUSIC, near) == sql
    assert senseless(sql, MUSIC) is not None


@pytest.mark.parametrize("sql", MEANT)
def test_what_can_be_meant_stays(sql: str) -> None:
    assert with_what_refers(sql, MUSIC, near) == sql


@pytest.mark.parametrize("sql", MEANT)
def test_what_can_be_meant_passes(sql: str) -> None:
    assert senseless(sql, MUSIC) is None
