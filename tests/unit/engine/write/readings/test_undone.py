"""What none of a question's statements does: conditions that their shape leaves, and names near to the same phrase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.values.elements import WHOLE_TABLE, Entity
from engine.write.readings.undone import (
    FITS_ALL,
    FOR_EACH,
    FOR_EVERY,
    FOR_ONE,
    IN_ALL,
    NAMES,
    PAIRS,
    undone,
)
from schema_catalog.types import ColumnKey
from tests.support.asking import route

TO = replace(route("?"), entities=())
JOINED = "SELECT s.country, c.concert_id FROM singer AS s JOIN singer_in_concert AS c USING (singer_id)"
FITTING = f"{JOINED} GROUP BY 1, 2 HAVING count(DISTINCT s.singer_id) = (SELECT count(*) FROM singer)"
NONE_LEFT = (
    "SELECT name FROM stadium AS s WHERE NOT EXISTS (SELECT FROM concert WHERE stadium_id > s.stadium_id)"
)
LISTED = "SELECT title FROM concert WHERE year IN ('2014', '2015') AND stadium_id = 3"
BOTH = "SELECT title FROM concert WHERE (year = '2014' OR year = '2015') AND stadium_id = 3"
LAST = "SELECT title FROM concert WHERE year = '2014' OR (year = '2015' AND stadium_id = 3)"
BRANCHES = "SELECT name FROM stadium WHERE name = 'a' UNION ALL SELECT title FROM concert WHERE title = 'b'"
BRANCH = "SELECT name FROM stadium UNION ALL SELECT title FROM concert WHERE title = 'b'"
BESIDE = FOR_ONE.format("stadium_id = 3")


@pytest.mark.parametrize(
    ("found", "left"),
    [
        (["SELECT title FROM concert"], ()),
        (["SELECT title FROM concert WHERE year = '2014' AND stadium_id = 3"], ()),
        ([JOINED], (FITS_ALL,)),
        ([JOINED, FITTING], ()),
        ([JOINED, "SELECT country FROM singer"], ()),
        ([NONE_LEFT], (PAIRS,)),
        (["SELECT count(*) FROM concert"], (FOR_EACH,)),
        (["SELECT year, count(*) FROM concert GROUP BY year"], (IN_ALL,)),
        (["SELECT count(*) FROM concert", "SELECT year, count(*) FROM concert GROUP BY year"], ()),
        (["SELECT name FROM stadium WHERE capacity = (SELECT max(capacity) FROM stadium)"], ()),
        ([LISTED], (BESIDE,)),
        ([BOTH], (BESIDE,)),
        ([LAST], (FOR_EVERY,)),
        ([LISTED, LAST], ()),
        ([BRANCHES], (FOR_ONE.format("title = 'b'"),)),
        ([BRANCH], (FOR_EVERY,)),
        ([BRANCHES, BRANCH], ()),
        (["SELECT nothing FROM nowhere", "no statement"], ()),
        ([], ()),
    ],
)
def test_a_condition_is_left_where_the_shape_allows_it_and_no_reading_has_it(
    found: list[str], left: tuple[str, ...]
) -> None:
    assert undone(found, TO) == left


def column(table: str, name: str) -> ColumnKey:
    return "public", table, name


ARTIST, PERFORMER = column("singer", "artist_name"), column("singer", "performer_name")
SINGER, STADIUM = column("singer", WHOLE_TABLE), column("stadium", WHOLE_TABLE)
ARTISTS = "SELECT artist_name FROM singer"


@pytest.mark.parametrize(
    ("cosines", "found", "left"),
    [
        ({ARTIST: 0.6, PERFORMER: 0.5}, [ARTISTS], ("singer.performer_name instead of singer.artist_name",)),
        ({ARTIST: 0.6, PERFORMER: 0.3}, [ARTISTS], ()),
        ({ARTIST: 0.2, PERFORMER: 0.2}, [ARTISTS], ()),
        ({ARTIST: 0.6, PERFORMER: 0.5}, [ARTISTS, "SELECT performer_name FROM singer"], ()),
        ({ARTIST: 0.6, column("singer", "singer_id"): 0.6}, [ARTISTS], ()),
        ({SINGER: 0.6, STADIUM: 0.5, PERFORMER: 0.6}, [ARTISTS], ("stadium instead of singer",)),
        ({ARTIST: 0.4, PERFORMER: 0.9}, [ARTISTS], ("singer.performer_name instead of singer.artist_name",)),
    ],
    ids=["near", "far", "of no phrase", "read", "a key", "of its kind", "nearer"],
)
def test_a_name_is_left_where_all_readings_use_another_for_its_phrase(
    cosines: dict[ColumnKey, float], found: list[str], left: tuple[str, ...]
) -> None:
    to = replace(TO, entities=(Entity("names", cosines),))
    assert undone(found, to) == tuple(f"reads {each}" for each in left)


def test_few_names_are_told_the_nearest_first() -> None:
    near = {column("concert", name): 0.5 + place / 100 for place, name in enumerate(("title", "year"))}
    near |= {column("stadium", name): 0.6 + place / 100 for place, name in enumerate(("name", "capacity"))}
    to = replace(TO, entities=(Entity("names", {ARTIST: 0.7, PERFORMER: 0.69, **near}),))
    told = undone([ARTISTS], to)
    assert len(told) == NAMES
    assert [each.split()[1] for each in told][:2] == ["singer.performer_name", "stadium.capacity"]
