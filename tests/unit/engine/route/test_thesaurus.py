"""A second reading of a question, with the names that synonyms stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.models.encoder import MiniLMEncoder
from engine.question.question import Question
from engine.route.index import Index, build
from engine.route.router import HybridRouter
from engine.route.thesaurus import Thesaurus, likelier
from engine.values.ports import Match
from engine.values.settings import EncoderSettings
from schema_catalog.types import Column, ReadableColumns, Snapshot, Table, TableKind
from tests.unit.engine.route.test_index import ENCODER


def named(database: str, *columns: str, table: str = "thing") -> Snapshot:
    """A database with one table; a column is `name` or `name=synonym,synonym`."""
    made = []
    for each in columns:
        name, _, synonyms = each.partition("=")
        made.append(Column(name, "text", synonyms=tuple(filter(None, synonyms.split(",")))))
    return Snapshot(database, ("public",), (Table("public", table, TableKind.TABLE, tuple(made)),))


def thesaurus(*snapshots: Snapshot) -> Thesaurus:
    return Thesaurus(Index([build(each, ENCODER.encode) for each in snapshots]))


def view(snapshot: Snapshot) -> tuple[Snapshot, ReadableColumns]:
    return snapshot, frozenset((*table.key, column.name) for table, column in snapshot.columns())


def test_a_synonym_is_read_as_the_name_that_it_stands_for() -> None:
    known = thesaurus(
        named("one", "singer_name=vocalist name,artist", "delivery_date=day of arrival"), named("two", "x")
    )
    assert known.names == {
        ("vocalist",): "singer",
        ("artist",): "singer name",
        ("day", "of", "arrival"): "delivery date",
    }
    assert known.reading(Question("Which Vocalists sang?")) == Question("Which singer sang?")
    assert known.reading(Question("The day of arrival, for each artist?")) == Question(
        "The delivery date, for each singer name?"
    )
    assert known.reading(Question("Which singers sang on a day?")) is None
    assert known.reading(Question("")) is None


def test_a_word_that_is_a_name_of_its_own_elsewhere_stays() -> None:
    state = named("one", "country=state")
    assert thesaurus(state).reading(Question("each state")) == Question("each country")
    assert (
        thesaurus(state, named("two", "state"), named("three", "state")).reading(Question("each state"))
        is None
    )


def match(position: int, logit: float) -> Match:
    return Match(position, named("x", "y"), logit, 0.5, (), (), logit - 1)


def test_each_database_keeps_the_reading_under_which_it_is_likelier() -> None:
    first = (match(0, 5.0), match(1, 1.0))
    second = (match(1, 105.0), match(0, 101.0))
    found = likelier(first, second, Question("other words"))
    assert [(each.position, each.reading) for each in found] == [(0, None), (1, "other words")]
    assert [each.logit for each in found] == pytest.approx([5.0, 5.0])
    assert found[1].retrieval == pytest.approx(4.0), "both parts of a logit are moved"
    assert likelier(first, (match(2, 9.0),), Question(""))[0].position == 2, (
        "one that only the second lists counts"
    )
    assert len(likelier(first, (match(2, 9.0),), Question(""))) == 2


def test_a_synonym_of_one_database_draws_no_question_away_from_the_others() -> None:
    bands = named("bands", "vocalist_name", "year", table="concert")
    bands = replace(bands, tables=(replace(bands.tables[0], synonyms=("gig",)),))
    others = [
        named("tours", "artist", "concert_id", "city", "ticket_price", table="concert"),
        named("shop", "item", "price"),
    ]
    router = HybridRouter(MiniLMEncoder(EncoderSettings(threads=1)))
    views = [view(each) for each in (bands, *others)]
    said, meant, other = router.rank(Question("How many gigs were there?"), views)
    assert [each.snapshot.database for each in (said, meant, other)] == ["bands", "tours", "shop"]
    assert said.logit - meant.logit < 3, "those who say gig and those who say concert are asked about alike"
    assert meant.logit - other.logit > 10
    assert (said.reading, meant.reading) == (None, "How many concert were there?")
    unread = router.rank(Question("How many gigs were there?"), views[1:])
    assert all(each.reading is None for each in unread), "an unreadable database's synonyms are not known"
