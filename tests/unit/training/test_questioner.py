"""Questions made of templates: they name what is there, and fit how tables are linked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from string import Formatter

import numpy as np
import pytest

from engine.routing.graph import Graph
from engine.routing.index import build
from engine.text.tokens import identifier_words, question_words
from schema_catalog.types import Snapshot
from tests.support.graphs import connected
from tests.support.schemas import MUSIC, table
from training.questioner import (
    WALKS,
    MadeQuestion,
    Relation,
    Template,
    lesson,
    made_questions,
    packaged,
)

COUNT = Template.of("How many {t0s} are there?", Relation.ALONE)
COLUMN = Template.of("List the {text0} of all {t0s}.", Relation.ALONE)
REFERS = Template.of("Show the {t1} of each {t0}.", Relation.REFERS)
REFERRED = Template.of("Which {t0} has {n} {t1s}?", Relation.REFERRED)
ACROSS = Template.of("Count the {t1s} of each {t0}.", Relation.ACROSS)

ZOO = Snapshot(
    "zoo",
    ("public",),
    (
        table("animal", "animal_id species name cage_id", ("cage_id", "cage", "cage_id")),
        table("cage", "cage_id area"),
    ),
)


def made(snapshot: Snapshot, templates: Sequence[Template]) -> list[MadeQuestion]:
    return made_questions(snapshot, Graph.of(snapshot), templates, count=80)


def texts(snapshot: Snapshot, *templates: Template) -> set[str]:
    return {re.sub(r"\d+", "2", one.question) for one in made(snapshot, templates)}


def test_slots_hold_names_as_they_are_spoken() -> None:
    assert texts(ZOO, COUNT) == {"How many animals are there?", "How many cages are there?"}
    assert texts(ZOO, COLUMN) == {"List the species of all animals.", "List the area of all cages."}


def test_a_column_of_an_unnamed_table_has_a_name_of_its_own() -> None:
    alone = Template.of("Show all {key0s}.", Relation.ALONE)
    assert texts(ZOO, alone) == {"Show all animal ids.", "Show all cage ids."}
    bare = replace(ZOO, tables=(table("cage", "id area"),))
    assert texts(bare, alone) == set()


def test_columns_of_a_template_differ() -> None:
    two = Template.of("{c0} by {c0b} of {t0s}", Relation.ALONE)
    assert texts(ZOO, two) == {"species by name of animals", "name by species of animals"}


def test_two_tables_are_named_as_they_are_linked() -> None:
    assert texts(ZOO, REFERS) == {"Show the cage of each animal."}
    assert texts(ZOO, REFERRED) == {"Which cage has 2 animals?"}
    assert texts(ZOO, ACROSS) == set()


def test_a_table_of_keys_links_two_and_is_read_with_them() -> None:
    link = replace(MUSIC.tables[2], columns=MUSIC.tables[2].columns[1:], primary_key=())
    linked = replace(MUSIC, tables=(*MUSIC.tables[:2], link, MUSIC.tables[3]))
    found = {one.question: one.tables for one in made(linked, [ACROSS])}
    assert set(found["Count the singers of each concert."]) == {0, 1, 2}


def test_a_schema_has_its_questions_and_a_changed_one_others() -> None:
    assert made(ZOO, packaged()) == made(ZOO, packaged())
    changed = replace(ZOO, tables=(ZOO.tables[0], table("cage", "cage_id area keeper")))
    assert any("keeper" in one.question for one in made(changed, packaged()))


def test_names_without_words_and_empty_schemas_give_none() -> None:
    assert made(Snapshot("empty", ("public",), ()), packaged()) == []
    assert made(Snapshot("odd", ("public",), (table("__", "id"),)), packaged()) == []


def test_the_packaged_templates_have_the_slots_of_their_relation() -> None:
    for each in packaged():
        tables = "0" if each.relation is Relation.ALONE else "01"
        known = re.compile(rf"n|m|year|(t[{tables}]|(c|key|date|number|name|text)[{tables}]b?)s?")
        slots = [name for _, name, _, _ in Formatter().parse(each.text) if name is not None]
        assert all(map(known.fullmatch, slots)), each.text
    assert {each.relation for each in packaged()} == set(Relation)
    assert len({(each.relation, each.text) for each in packaged()}) == len(packaged())


@pytest.mark.parametrize("snapshot", [MUSIC, ZOO], ids=["music", "zoo"])
def test_the_packaged_templates_name_only_what_is_there(snapshot: Snapshot) -> None:
    general = {word for each in packaged() for word in question_words(re.sub(r"\{\w+\}", " ", each.text))}
    found = made(snapshot, packaged())
    assert len(found) > 40
    for one in found:
        tables = [snapshot.tables[number] for number in one.tables]
        names = [each.name for each in tables] + [column.name for each in tables for column in each.columns]
        held = {word for name in names for word in identifier_words(name)}
        assert {word for word in question_words(one.question) if not word.isdigit()} <= held | general
        assert not (held - {"id", "name"}).isdisjoint(question_words(one.question))
        assert connected(Graph.of(snapshot), one.tables)


def test_a_lesson_is_about_every_database() -> None:
    parts = [build(each, lambda texts: np.zeros((len(texts), 2), dtype=np.float32)) for each in (MUSIC, ZOO)]
    found = Counter(one.database for one in lesson(parts))
    assert found == Counter({0: WALKS, 1: WALKS})
    assert lesson([]) == []
