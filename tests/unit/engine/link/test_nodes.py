"""A question and a schema as an encoder's input: nodes, what is known of them, windows."""

from __future__ import annotations

import numpy as np

from engine.link.nodes import (
    ASKED,
    FEATURES,
    QUESTION_TOKENS,
    WINDOW,
    Marks,
    NodeRelation,
    schema_input,
    windows,
)
from engine.question.question import Question
from engine.values.schema_graph import EdgeKind
from tests.support.schemas import MUSIC

MARKS = Marks(start=1, end=2, columns=3, column=4)


def feature(question: str, element: tuple[str, str]) -> dict[str, float]:
    found = schema_input(Question(question), MUSIC)
    row = [node[1:] for node in found.nodes].index(element)
    return dict(zip(FEATURES, found.features[row].tolist(), strict=True))


def test_a_table_is_followed_by_its_columns_in_words() -> None:
    found = schema_input(Question("How many singers?"), MUSIC)
    first = MUSIC.tables[0]
    size = 1 + len(first.columns)
    assert found.nodes[:size] == tuple((*first.key, n) for n in ("*", *(c.name for c in first.columns)))
    assert found.table_of[:size].tolist() == [0] * size
    assert found.table_of[size] == size
    assert found.words == ("How", "many", "singers", "?")
    assert not any("_" in text for text in found.texts)


def test_names_are_compared_with_the_question_without_endings() -> None:
    assert feature("How many singers are there", ("singer", "*"))["all words asked"] == 1
    assert feature("How many stadiums are there", ("singer", "*"))["words asked"] == 0
    asked = schema_input(Question("How many singers are there"), MUSIC).asked
    assert asked[:, 0].tolist() == [0, 0, 1, 0, 0]


def test_joins_are_relations_of_columns_and_of_tables() -> None:
    found = schema_input(Question("?"), MUSIC)
    number = {node[1:]: place for place, node in enumerate(found.nodes)}
    table = next(table for table in MUSIC.tables if table.foreign_keys)
    key = table.foreign_keys[0]
    column, target = number[table.name, key.columns[0]], number[key.ref_table, "*"]
    assert found.relations[column, number[key.ref_table, key.ref_columns[0]]] == NodeRelation.JOINED
    assert found.relations[column, target] == NodeRelation.JOINS
    assert found.relations[column, number[table.name, "*"]] == NodeRelation.TABLE_OF
    edge = found.relations[number[table.name, "*"], target]
    assert edge == NodeRelation.EDGES + EdgeKind.FOREIGN_PRIMARY
    assert [column, target] in found.joins.tolist()


def test_a_large_schema_has_every_node_once_and_the_question_in_each_window() -> None:
    nodes = [[100]] + [[200 + n % 7] * (1 + n % 4) for n in range(900)]
    found = windows([[10]] * 300, nodes, [0] * len(nodes), MARKS)
    assert len(found) > 4
    assert all(len(window.ids) <= WINDOW for window in found)
    assert all(window.parts[: QUESTION_TOKENS + 2].count(ASKED) == QUESTION_TOKENS for window in found)
    assert all(window.ids[QUESTION_TOKENS + 2] == 100 for window in found)
    placed = [part for window in found for part in dict.fromkeys(window.parts) if part >= 0]
    assert placed == list(range(len(nodes)))
    tokens = np.concatenate([np.array(window.ids)[np.array(window.parts) >= 0] for window in found])
    assert tokens.tolist() == [token for node in nodes for token in node]
