"""Statements whose outcome is known before they run, and those that only look like them."""

from __future__ import annotations

import pytest

from engine.generation.sense import senseless
from tests.unit.engine.generation.schemas import MUSIC

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


def test_it_names_what_could_be_meant_instead() -> None:
    counted = senseless("SELECT name, COUNT(*) FROM stadium GROUP BY stadium_id", MUSIC)
    excluded = senseless(
        "SELECT artist_name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM singer)", MUSIC
    )
    assert (counted or "").endswith("(concert)")
    assert (excluded or "").endswith("(singer_in_concert.singer_id)")


@pytest.mark.parametrize("sql", MEANT)
def test_what_can_be_meant_passes(sql: str) -> None:
    assert senseless(sql, MUSIC) is None
