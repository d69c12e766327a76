"""What is surely not meant: by the linker's probabilities, less what statements need all the same."""

from __future__ import annotations

from dataclasses import replace

from engine.link.schema_linker import LEAST, unlikely
from engine.values.elements import WHOLE_TABLE, SchemaLinks
from schema_catalog.types import ColumnKey, Snapshot
from tests.support.schemas import table

SINGER = ("public", "singer")
SONG = ("public", "song")
MUSIC = Snapshot(
    "music",
    ("public",),
    (
        table("singer", "singer_id name age"),
        table("song", "song_id singer_id title", ("singer_id", "singer", "singer_id")),
    ),
)


def links(**chances: float) -> SchemaLinks:
    every = {
        (*each.key, name): 0.0
        for each in MUSIC.tables
        for name in (WHOLE_TABLE, *(c.name for c in each.columns))
    }
    given = {_key(name): chance for name, chance in chances.items()}
    return SchemaLinks(every | given, frozenset(), (), 1.0)


def _key(name: str) -> ColumnKey:
    table_name, column = name.split("__")
    return ("public", table_name, column)


def test_what_is_less_probable_than_the_threshold_goes_but_for_keys_and_what_is_wanted() -> None:
    found = unlikely(links(singer__name=LEAST, singer__age=LEAST / 2), MUSIC, ())
    assert {(*SINGER, "age"), (*SONG, WHOLE_TABLE)} <= found
    assert (*SINGER, "name") not in found
    found = unlikely(links(song__title=0.5), MUSIC, ())
    assert not {column for column in found if column[:2] == SONG}
    found = unlikely(links(singer__name=0.5), MUSIC, [(*SONG, "title")])
    assert not {(*SONG, "title"), (*SONG, WHOLE_TABLE)} & found


def test_a_part_of_the_schema_and_a_table_without_keys_stay_whole() -> None:
    part = replace(MUSIC, tables=tuple(table for table in MUSIC.tables if table.key != SONG))
    assert unlikely(links(song__title=0.9), part, ()) == frozenset()
    bare = [replace(each, primary_key=(), unique_keys=(), foreign_keys=()) for each in MUSIC.tables]
    schema = replace(MUSIC, tables=tuple(bare))
    found = unlikely(links(song__title=LEAST / 2), schema, [(*SONG, WHOLE_TABLE)])
    assert not {element for element in found if element[:2] == SONG}
