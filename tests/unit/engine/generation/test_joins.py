"""Joins that the schema's foreign keys complete."""

from __future__ import annotations

import pytest

from engine.generation.joins import complete_joins
from tests.unit.engine.generation.schemas import MUSIC

CASES = {
    "nothing is missing": (
        "SELECT singer.country FROM singer",
        "SELECT singer.country FROM singer",
    ),
    "one step": (
        "SELECT stadium.name FROM concert",
        "SELECT stadium.name FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id",
    ),
    "two steps through a table in between": (
        "SELECT singer.country FROM concert",
        "SELECT singer.country FROM concert"
        " JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id"
        " JOIN singer ON singer_in_concert.singer_id = singer.singer_id",
    ),
    "from an aliased table": (
        "SELECT stadium.name FROM concert AS c",
        "SELECT stadium.name FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id",
    ),
    "named in WHERE alone": (
        "SELECT COUNT(*) FROM concert WHERE stadium.name = 'Oval'",
        "SELECT COUNT(*) FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id"
        " WHERE stadium.name = 'Oval'",
    ),
    "inside a subquery": (
        "SELECT singer.country FROM singer WHERE singer.singer_id IN (SELECT singer_in_concert.singer_id"
        " FROM singer_in_concert WHERE concert.year = '2014')",
        "SELECT singer.country FROM singer WHERE singer.singer_id IN (SELECT singer_in_concert.singer_id"
        " FROM singer_in_concert JOIN concert ON singer_in_concert.concert_id = concert.concert_id"
        " WHERE concert.year = '2014')",
    ),
    "a correlated reference is not missing": (
        "SELECT stadium.name FROM stadium WHERE EXISTS (SELECT 1 FROM concert"
        " WHERE concert.stadium_id = stadium.stadium_id)",
        "SELECT stadium.name FROM stadium WHERE EXISTS (SELECT 1 FROM concert"
        " WHERE concert.stadium_id = stadium.stadium_id)",
    ),
    "no text that can be parsed": ("SELECT FROM WHERE (", "SELECT FROM WHERE ("),
}


@pytest.mark.parametrize("name", CASES)
def test_complete_joins(name: str) -> None:
    sql, completed = CASES[name]
    assert complete_joins(sql, MUSIC) == completed
