"""What could stand for what, and statements with the one in place of the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.link.synonyms import Exchange, exchanges
from engine.statement.resolution import resolve
from engine.write.exchanges import substituted
from schema_catalog.types import ColumnKey, Snapshot
from tests.support.schemas import MUSIC, table

ARTIST, PERFORMER = ("public", "singer", "artist_name"), ("public", "singer", "performer_name")
COUNTRY = ("public", "singer", "country")
ELSEWHERE = ("public", "singer_country", "country")
SINGER, VOCALIST = ("public", "singer", "*"), ("public", "vocalist", "*")

WITH_A_TABLE = replace(
    MUSIC,
    tables=(
        *MUSIC.tables,
        table("singer_country", "singer_id country", ("singer_id", "singer", "singer_id")),
    ),
)
WITH_TWO_TABLES = replace(
    MUSIC, tables=(*MUSIC.tables, table("vocalist", "singer_id artist_name performer_name country"))
)


def pairs(sql: str, snapshot: Snapshot) -> list[tuple[ColumnKey, ColumnKey]]:
    read = resolve(sql, snapshot)
    assert not read.problems
    return [
        (each.used, each.other) for each in exchanges(read.columns, read.tables, snapshot, lambda _a, _b: 0.9)
    ]


def test_a_column_stands_for_another_of_its_table_and_kind_the_more_alike_first() -> None:
    found = pairs("SELECT artist_name FROM singer", MUSIC)
    assert found == [(ARTIST, PERFORMER), (ARTIST, COUNTRY)]
    found = exchanges({ARTIST}, {ARTIST[:2]}, MUSIC, lambda _one, other: 0.6 if "performer" in other else 0.3)
    assert [each.other for each in found] == [PERFORMER]
    assert exchanges({ARTIST}, {ARTIST[:2]}, MUSIC, lambda *_: 0.3) == []
    assert pairs("SELECT singer_id FROM singer", MUSIC) == []


def test_references_to_the_same_are_twins_however_they_are_called() -> None:
    flight = table(
        "flight", "flight_id origin dest", ("origin", "stadium", "name"), ("dest", "stadium", "name")
    )
    snapshot = replace(MUSIC, tables=(*MUSIC.tables, flight))
    origin, dest = ("public", "flight", "origin"), ("public", "flight", "dest")
    found = exchanges({origin}, {flight.key}, snapshot, lambda _one, _other: 0.0)
    assert found == [Exchange(origin, dest, 1.0)]


def test_a_column_or_a_key_in_a_table_of_its_own_and_a_table_of_the_same_columns() -> None:
    assert pairs("SELECT country FROM singer", WITH_A_TABLE)[0] == (COUNTRY, ELSEWHERE)
    assert pairs("SELECT country FROM singer_country", WITH_A_TABLE)[0] == (ELSEWHERE, COUNTRY)
    to_stadium = ("stadium_id", "stadium", "stadium_id")
    apart = table(
        "concert_stadium_id", "concert_id stadium_id", ("concert_id", "concert", "concert_id"), to_stadium
    )
    snapshot = replace(MUSIC, tables=(*MUSIC.tables, apart))
    found = pairs("SELECT stadium_id FROM concert", snapshot)
    assert found == [(("public", "concert", "stadium_id"), ("public", "concert_stadium_id", "stadium_id"))]
    assert pairs("SELECT concert_id FROM concert_stadium_id", snapshot) == [], "the key that joins the two"
    assert pairs("SELECT COUNT(*) FROM singer", WITH_TWO_TABLES) == [(SINGER, VOCALIST)]
    assert pairs("SELECT COUNT(*) FROM concert", WITH_TWO_TABLES) == []


EXCHANGED = [
    (
        "SELECT artist_name FROM singer WHERE singer_id > 3",
        Exchange(ARTIST, PERFORMER, 1.0),
        MUSIC,
        "SELECT performer_name FROM singer WHERE singer_id > 3",
    ),
    (
        "SELECT artist_name, performer_name FROM singer",
        Exchange(ARTIST, PERFORMER, 1.0),
        MUSIC,
        "SELECT performer_name FROM singer",
    ),
    (
        "SELECT COUNT(*) FROM singer AS s WHERE s.country = 'x'",
        Exchange(SINGER, VOCALIST, 1.0),
        WITH_TWO_TABLES,
        "SELECT COUNT(*) FROM vocalist AS s WHERE s.country = 'x'",
    ),
    (
        "SELECT artist_name, country FROM singer",
        Exchange(COUNTRY, ELSEWHERE, 1.0),
        WITH_A_TABLE,
        "SELECT singer.artist_name, singer_country.country FROM singer"
        " JOIN singer_country ON singer.singer_id = singer_country.singer_id",
    ),
    (
        "SELECT T1.artist_name, T2.country FROM singer AS T1 JOIN singer_country AS T2 ON T1.singer_id = T2.singer_id",
        Exchange(ELSEWHERE, COUNTRY, 1.0),
        WITH_A_TABLE,
        "SELECT t1.artist_name, t1.country FROM singer AS t1",
    ),
    (
        "SELECT s.artist_name, COUNT(*) FROM singer AS s JOIN vocalist AS v ON s.artist_name = v.artist_name"
        " GROUP BY s.artist_name, s.performer_name",
        Exchange(ARTIST, PERFORMER, 1.0),
        WITH_TWO_TABLES,
        "SELECT s.performer_name, COUNT(*) FROM singer AS s JOIN vocalist AS v ON s.artist_name = v.artist_name"
        " GROUP BY s.performer_name",
    ),
    (
        "SELECT artist_name FROM singer WHERE country IN (SELECT country FROM vocalist)",
        Exchange(ARTIST, COUNTRY, 1.0),
        WITH_TWO_TABLES,
        "SELECT country FROM singer WHERE country IN (SELECT country FROM vocalist)",
    ),
    (
        "SELECT artist_name, artist_name FROM singer WHERE artist_name <> 'a'",
        Exchange(ARTIST, PERFORMER, 1.0),
        MUSIC,
        "SELECT artist_name, performer_name FROM singer WHERE artist_name <> 'a'",
    ),
]


@pytest.mark.parametrize(("sql", "twin", "snapshot", "wanted"), EXCHANGED)
def test_everything_else_stays(sql: str, twin: Exchange, snapshot: Snapshot, wanted: str) -> None:
    assert substituted(sql, twin, snapshot) == wanted
    assert resolve(wanted, snapshot).problems == ()


@pytest.mark.parametrize(
    ("sql", "twin", "snapshot"),
    [
        ("SELECT COUNT(*) FROM concert", Exchange(ARTIST, PERFORMER, 1.0), MUSIC),
        (
            "SELECT s.country FROM singer s JOIN vocalist v ON s.country = v.country",
            Exchange(SINGER, VOCALIST, 1.0),
            WITH_TWO_TABLES,
        ),
        ("no SQL (", Exchange(ARTIST, PERFORMER, 1.0), MUSIC),
        (
            "SELECT COUNT(*) FROM singer s JOIN vocalist v ON s.artist_name = v.artist_name",
            Exchange(ARTIST, PERFORMER, 1.0),
            WITH_TWO_TABLES,
        ),
        (
            "SELECT COUNT(*) FROM singer WHERE artist_name = 'a' AND performer_name = 'b'",
            Exchange(ARTIST, PERFORMER, 1.0),
            MUSIC,
        ),
    ],
)
def test_what_cannot_be_exchanged(sql: str, twin: Exchange, snapshot: Snapshot) -> None:
    assert substituted(sql, twin, snapshot) is None
