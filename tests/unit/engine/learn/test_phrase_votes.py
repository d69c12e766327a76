"""Which votes come of a choice: the phrase, the level, and nothing where statements agree."""

from __future__ import annotations

import pytest

from engine.learn.preferences import votes
from engine.values.elements import WHOLE_TABLE, Entity
from engine.values.learned import Element, Vote


def column(text: str) -> Element:
    table, _, name = text.partition(".")
    return ("public", table, name or WHOLE_TABLE)


def used(*names: str) -> frozenset[Element]:
    """Columns, with their tables."""
    columns = {column(name) for name in names}
    return frozenset(columns | {("public", table, WHOLE_TABLE) for _, table, _ in columns})


def phrase(text: str, **near: float) -> Entity:
    return Entity(text, {column(name.replace("__", ".")): value for name, value in near.items()})


def shown(found: tuple[Vote, ...]) -> set[tuple[str, str, str]]:
    return {(each.phrase, ".".join(each.preferred[1:]), ".".join(each.rejected[1:])) for each in found}


NAME = phrase("name", singer=0.2, singer__artist_name=0.6, singer__performer_name=0.55, singer__age=0.3)
SINGERS = phrase("singers", singer=0.9, singer__artist_name=0.62, singer__performer_name=0.6, singer__age=0.5)
FRANCE = phrase("france", singer=0.1, singer__artist_name=0.05, singer__performer_name=0.1, singer__age=0.0)


def test_the_phrase_is_the_one_that_means_the_columns_that_differ() -> None:
    found = votes(
        [SINGERS, NAME, FRANCE],
        used("singer.artist_name", "singer.age"),
        [used("singer.performer_name")],
        1.0,
    )
    assert shown(found) == {("name", "singer.artist_name", "singer.performer_name")}
    assert found[0].weight == 1.0


def test_statements_of_the_same_columns_teach_nothing_and_tables_are_preferred_as_tables() -> None:
    same = used("singer.artist_name")
    assert votes([SINGERS, NAME], same, [same], 1.0) == ()
    assert votes([SINGERS, NAME], same, [used("singer.artist_name", "singer.age")], 1.0) == ()
    assert votes([], same, [used("singer.performer_name")], 1.0) == ()
    assert votes([NAME], same, [], 1.0) == ()
    people = phrase("singers", artist=0.5, artist__name=0.4, performer=0.6, performer__name=0.5)
    name = phrase("name", artist=0.1, artist__name=0.5, performer=0.1, performer__name=0.45)
    found = votes([name, people], used("artist.name"), [used("performer.name")], 2.0)
    assert shown(found) == {("singers", f"artist.{WHOLE_TABLE}", f"performer.{WHOLE_TABLE}")}


@pytest.mark.parametrize("joined", [True, False])
def test_a_column_that_also_stands_in_a_joined_table(*, joined: bool) -> None:
    country = phrase(
        "country",
        singer=0.2,
        singer__country=0.6,
        singer__id=0.1,
        singer_country=0.5,
        singer_country__country=0.7,
    )
    plain = used("singer.country")
    through = used("singer.id", "singer_country.country")
    chosen, other = (through, plain) if joined else (plain, through)
    pair = ("singer_country.country", "singer.country")
    assert shown(votes([country], chosen, [other], 1.0)) == {("country", *(pair if joined else pair[::-1]))}


def test_a_table_is_not_taken_for_its_column_and_each_rejected_statement_has_its_say() -> None:
    """`name` is nearer to the table than to the second column, and yet about the columns."""
    name = phrase("name", singer=0.48, singer__artist_name=0.63, singer__performer_name=0.46)
    singer = phrase("singer", singer=1.0, singer__artist_name=0.64, singer__performer_name=0.58)
    for chosen, other in (("artist", "performer"), ("performer", "artist")):
        found = votes([singer, name], used(f"singer.{chosen}_name"), [used(f"singer.{other}_name")], 1.0)
        assert shown(found) == {("name", f"singer.{chosen}_name", f"singer.{other}_name")}
    others = [used("singer.performer_name"), used("singer.age")]
    found = votes([NAME], used("singer.artist_name"), others, 1.0)
    assert shown(found) == {
        ("name", "singer.artist_name", "singer.performer_name"),
        ("name", "singer.artist_name", "singer.age"),
    }
