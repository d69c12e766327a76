"""Questions made of the packaged templates name what is there, of tables that are linked, about every database."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from string import Formatter

import numpy as np
import pytest

from engine.routing.graph import Graph
from engine.routing.index import build
from engine.text.tokens import identifier_words, question_words
from schema_catalog.types import Snapshot
from tests.support.schemas import MUSIC, table
from training.questioner import WALKS, MadeQuestion, Relation, lesson, made_questions, packaged

ZOO = Snapshot(
    "zoo",
    ("public",),
    (
        table("animal", "animal_id species name cage_id", ("cage_id", "cage", "cage_id")),
        table("cage", "cage_id area"),
    ),
)


def made(snapshot: Snapshot) -> list[MadeQuestion]:
    return made_questions(snapshot, Graph.of(snapshot), packaged(), count=80)


def test_a_schema_has_its_questions_and_a_changed_one_others() -> None:
    assert made(ZOO) == made(ZOO)
    changed = replace(ZOO, tables=(ZOO.tables[0], table("cage", "cage_id area keeper")))
    assert any("keeper" in one.question for one in made(changed))
    assert made(Snapshot("odd", ("public",), (table("__", "id"),))) == []


def test_the_packaged_templates_have_the_slots_of_their_relation() -> None:
    for each in packaged():
        tables = "0" if each.relation is Relation.ALONE else "01"
        known = re.compile(rf"n|m|year|(t[{tables}]|(c|key|date|number|name|text)[{tables}]b?)s?")
        slots = [name for _, name, _, _ in Formatter().parse(each.text) if name is not None]
        assert all(map(known.fullmatch, slots)), each.text
    assert {each.relation for each in packaged()} == set(Relation)


@pytest.mark.parametrize("snapshot", [MUSIC, ZOO], ids=["music", "zoo"])
def test_the_packaged_templates_name_only_what_is_there(snapshot: Snapshot) -> None:
    general = {word for each in packaged() for word in question_words(re.sub(r"\{\w+\}", " ", each.text))}
    found = made(snapshot)
    assert len(found) > 40
    for one in found:
        tables = [snapshot.tables[number] for number in one.tables]
        names = [each.name for each in tables] + [column.name for each in tables for column in each.columns]
        held = {word for name in names for word in identifier_words(name)}
        assert {word for word in question_words(one.question) if not word.isdigit()} <= held | general
        assert not (held - {"id", "name"}).isdisjoint(question_words(one.question))
        assert Graph.of(snapshot).connected(one.tables)


def test_a_lesson_is_about_every_database() -> None:
    parts = [build(each, lambda texts: np.zeros((len(texts), 2), dtype=np.float32)) for each in (MUSIC, ZOO)]
    found = Counter(one.database for one in lesson(parts))
    assert found == Counter({0: WALKS, 1: WALKS})
    assert lesson([]) == []
