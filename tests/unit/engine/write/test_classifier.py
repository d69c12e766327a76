"""The classifier: composed only as seen, features of fixed length, and the model that comes with the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.models.encoder import MiniLMEncoder
from engine.question.question import Question
from engine.question.tokens import cues_in
from engine.values.conditions import Hardness, Operator, StatementKind
from engine.write.conditions import LABELS, Classifier, features, packaged
from tests.support.schemas import MUSIC

DIMENSION = 4


class Axes:
    """An encoder whose vectors point along one of four axes, by the text's length."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([np.eye(DIMENSION, dtype=np.float32)[len(text) % DIMENSION] for text in texts])


KINDS = (
    StatementKind(frozenset(), Hardness.EASY),
    StatementKind(frozenset({Operator.COUNT}), Hardness.EASY),
    StatementKind(frozenset({Operator.JOIN, Operator.GROUP, Operator.COUNT}), Hardness.MEDIUM),
)


def row(kind: StatementKind) -> NDArray[np.float32]:
    return np.array([label in {*kind.operators, kind.hardness} for label in LABELS], dtype=np.float32)


def classifier(cue: str, label: Operator) -> Classifier:
    """One that takes the word `cue` for `label` and knows nothing else."""
    width = len(features(Question("x"), MUSIC, Axes(), [cue]))
    w1 = np.zeros((width, 1), dtype=np.float32)
    w1[-1, 0] = 1.0
    w2 = np.array([[5.0 if each is label else 0.0 for each in LABELS]], dtype=np.float32)
    arrays: dict[str, NDArray[Any]] = {
        "w1": w1,
        "b1": np.zeros(1),
        "w2": w2,
        "b2": np.zeros(len(LABELS)),
        "prior": np.array([0.1, 0.0, -0.1]),
        "kinds": np.stack([row(kind) for kind in KINDS]),
        "cues": np.array([cue]),
    }
    return Classifier(arrays, Axes())


def test_compositions_that_were_seen_are_proposed_and_a_word_moves_those_with_its_operator() -> None:
    found = classifier("many", Operator.COUNT).predict(Question("How many singers are there?"), MUSIC)
    assert {each.kind for each in found} == set(KINDS)
    assert sum(each.probability for each in found) == pytest.approx(1.0)
    model = classifier("many", Operator.COUNT)
    assert model.predict(Question("How many singers are there?"), MUSIC)[0].kind == KINDS[1]
    assert model.predict(Question("Which singers are there?"), MUSIC)[0].kind == KINDS[0]


def test_numbers_and_quotes_are_words_and_neighbours_make_pairs() -> None:
    assert list(cues_in("Over 100 'cats'")) == [
        "over",
        "0",
        "over 0",
        "'",
        "0 '",
        "cats",
        "' cats",
        "'",
        "cats '",
    ]


def test_the_model_that_comes_along_has_the_right_kind_among_its_first_three() -> None:
    classified = Classifier.of(packaged(), MiniLMEncoder())
    for question, wanted in {
        "How many singers are there?": {Operator.COUNT},
        "What are the titles of all concerts in the order of their year?": {Operator.ORDER},
        "Show the names of stadiums without any concert.": {Operator.WHERE, Operator.NESTED},
        "For each stadium, how many concerts took place?": {Operator.GROUP, Operator.COUNT, Operator.JOIN},
    }.items():
        first = classified.predict(Question(question), MUSIC)[:3]
        assert wanted in [set(each.kind.operators) for each in first], question
