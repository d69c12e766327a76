"""Words that nothing in a schema stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from engine.link.element_text import SHORT, linked
from engine.link.unknown import unknown_phrases
from engine.question.question import Question
from engine.values.elements import Relation, ValueLink
from engine.values.state import Route
from schema_catalog.types import Snapshot
from tests.support.asking import DATABASE
from tests.support.schemas import MUSIC
from tests.support.scripted import WordEncoder

ENCODER = cast("Any", WordEncoder())


def found(question: str, snapshot: Snapshot = MUSIC, values: tuple[ValueLink, ...] = ()) -> list[str]:
    """The unknown words; to the encoder of the tests only equal words are alike."""
    tables = tuple(table.key for table in snapshot.tables)
    links = linked(Question(question).entities, snapshot, ENCODER)
    route = Route(DATABASE, snapshot, 1.0, tables, links, values)
    return sorted(each.text for each in unknown_phrases(Question(question), route, ENCODER))


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("What is the weather at each stadium?", ["weather"]),
        # Beside a word that stands for something one is taken to belong to it.
        ("Who sang?", ["sang"]),
        ("Which singers sang?", []),
        ("How many concertgoers are there at places with the largest capacities?", []),
        # Operations, numbers, dates, and what joins sentences.
        ("How many singers were there between 2013 and 2015, on average, per year?", []),
        ("Which stadium grew fastest last year?", []),
        ("Which concerts were there because of the singer, despite the stadium?", []),
        # Names and quoted texts are left to the data.
        ("concerts of Elvis Presley in 'the old barn' (ORD)", []),
    ],
)
def test_words_that_no_element_is_near_to(question: str, unknown: list[str]) -> None:
    assert found(question) == unknown


def test_a_description_or_a_value_may_stand_for_it() -> None:
    question = "vocalists of each country"
    assert found(question) == ["vocalists"]
    singer = next(table for table in MUSIC.tables if table.name == "singer")
    described = replace(singer, description="Vocalists on tour")
    others = tuple(described if table is singer else table for table in MUSIC.tables)
    assert found(question, replace(MUSIC, tables=others)) == []
    value = ValueLink("vocalists", ("public", "concert", "title"), ("Vocalists",), 1.0, Relation.EQUALS)
    assert found(question, values=(value,)) == []


def test_it_says_what_is_nearest() -> None:
    question = "weather"
    route = Route(DATABASE, MUSIC, 1.0, (), linked(Question(question).entities, MUSIC, ENCODER))
    (unknown,) = unknown_phrases(Question(question), route, ENCODER)
    assert unknown.nearest is not None
    assert -1.0 <= unknown.cosine < 0.35


def test_a_proposed_word_stands_for_it_for_less_than_a_synonym() -> None:
    question = "vocalists of each country"
    singer = next(table for table in MUSIC.tables if table.name == "singer")

    def near(**words: tuple[str, ...]) -> tuple[list[str], float]:
        others = tuple(replace(table, **words) if table is singer else table for table in MUSIC.tables)
        snapshot = replace(MUSIC, tables=others)
        (entity, *_) = linked(Question(question).entities, snapshot, ENCODER)
        return found(question, snapshot), entity.similarities["public", "singer", "*"]

    nothing, proposed, said = near(), near(proposed_synonyms=("vocalists",)), near(synonyms=("vocalists",))
    assert (nothing[0], proposed[0], said[0]) == (["vocalists"], [], [])
    assert nothing[1] < proposed[1] < SHORT < said[1], "a name in short stays nearer"
