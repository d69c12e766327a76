"""A schema in other words keeps its shape."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schema_catalog.types import ForeignKey
from tests.support.schemas import MUSIC, table
from training import renamed_catalog
from training.renamed_catalog import renamed

OTHERS = {"singer": "vocalist", "country": "body politic", "title": "name"}


def instead(written: str, word: str, key: str) -> str:
    """The other word, in any database."""
    assert key
    return OTHERS.get(word, written)


@pytest.fixture(autouse=True)
def every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renamed_catalog, "REPLACED", 1.0)


def test_keys_refer_to_the_new_names() -> None:
    song = table("song", "song_id singer_id", ("singer_id", "singer", "singer_id"))
    before = replace(MUSIC, tables=(replace(table("singer", "singer_id country")), song))
    singer, song = renamed(before, instead).tables
    assert (singer.name, [one.name for one in singer.columns]) == (
        "vocalist",
        ["vocalist_id", "body_politic"],
    )
    assert song.foreign_keys == (ForeignKey(("vocalist_id",), "public", "vocalist", ("vocalist_id",)),)


def test_a_name_that_is_taken_leaves_the_old_one() -> None:
    (one,) = renamed(replace(MUSIC, tables=(table("album", "title name"),)), instead).tables
    assert [column.name for column in one.columns] == ["title", "name"]
