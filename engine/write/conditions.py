"""Which conditions a question asks for (MetaSQL §III-A): features, and a small network over them.

The classifier's features of a question and a schema: a vector of fixed length.

The question's sentence vector, the mean of the schema's elements weighted by their cosine to it, the best cosines of
tables and columns, and indicators of cue words such as `each`, `not` and `both`, which a sentence vector blurs.

Predicts conditions: a small network over a question's features, in numpy.

A composition's score is the sum of its labels' log-odds and of its prior; the probabilities are the softmax over the
compositions seen in training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.link.element_text import element_words
from engine.models.packaged import read
from engine.question.question import Question
from engine.values.conditions import Condition, Hardness, Operator, StatementKind
from engine.values.ports import Encoder
from engine.values.shipped import shipped
from schema_catalog.types import Snapshot, TableKey

Vector = NDArray[np.float32]

NEAREST = 4
"""Tables, and columns, whose cosines are features."""

_SHARPNESS = 15.0
"""Of the softmax over elements: 0.1 more cosine weighs 4.5 times as much."""


def features(question: Question, snapshot: Snapshot, encoder: Encoder, cues: Sequence[str]) -> Vector:
    """Shape (2d + 2·NEAREST + 1 + len(cues),), d the encoder's dimension."""
    # The link stage's texts, whose vectors the encoder has cached.
    texts = element_words(snapshot)
    vectors = encoder.encode([question.text, *texts.values()])
    sentence, elements = vectors[0], vectors[1:]
    cosines = elements @ sentence
    weights = np.exp(_SHARPNESS * (cosines - cosines.max(initial=-1.0)))
    mixed = weights @ elements / max(weights.sum(), 1e-9)
    tables: dict[TableKey, float] = {}
    for key, cosine in zip(texts, cosines.tolist(), strict=True):
        tables[key[:2]] = max(cosine, tables.get(key[:2], -1.0))
    words = question.cues
    return np.concatenate(
        [
            sentence,
            mixed,
            _best(np.array([*tables.values()], dtype=np.float32)),
            _best(cosines),
            [np.log1p(len(tables)) / 3],
            [cue in words for cue in cues],
        ]
    ).astype(np.float32)


def _best(values: NDArray[np.float32]) -> NDArray[np.float32]:
    kept = np.sort(values)[::-1][:NEAREST]
    return np.pad(kept, (0, NEAREST - len(kept)))


NAME, FORMAT = "conditions", 1

LABELS: tuple[Operator | Hardness, ...] = (*Operator, *Hardness)
"""The network's outputs, in order."""


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("models/conditions_base")


def kind_from(row: NDArray[Any]) -> StatementKind:
    """The composition whose labels are ones in `row`, (len(LABELS),); raises `StopIteration` without a hardness."""
    there = [label for label, value in zip(LABELS, row, strict=True) if value]
    operators = frozenset(label for label in there if isinstance(label, Operator))
    return StatementKind(operators, next(label for label in there if isinstance(label, Hardness)))


class Classifier:
    """`engine.values.ports.Conditions`, of one artifact."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], encoder: Encoder) -> None:
        self._encoder = encoder
        self._cues = [str(cue) for cue in arrays["cues"]]
        self._weights = {key: arrays[key].astype(np.float32) for key in ("w1", "b1", "w2", "b2", "prior")}
        self._rows = arrays["kinds"].astype(np.float32)
        self._kinds = [kind_from(row) for row in arrays["kinds"]]

    @classmethod
    def of(cls, folder: Path, encoder: Encoder) -> Classifier:
        """Reads an artifact; raises `engine.models.packaged.PackagedError`."""
        return cls(read(folder, NAME, FORMAT).arrays, encoder)

    def predict(self, question: Question, snapshot: Snapshot) -> tuple[Condition, ...]:
        """All the compositions seen in training, likeliest first; the probabilities sum to 1."""
        scores = self._rows @ self.labels(question, snapshot) + self._weights["prior"]
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        order = np.argsort(-chances, kind="stable")
        return tuple(Condition(self._kinds[number], float(chances[number])) for number in order)

    def labels(self, question: Question, snapshot: Snapshot) -> NDArray[np.float32]:
        """Log-odds of each of `LABELS`."""
        given = features(question, snapshot, self._encoder, self._cues)
        hidden = np.maximum(given @ self._weights["w1"] + self._weights["b1"], 0.0)
        result: NDArray[np.float32] = hidden @ self._weights["w2"] + self._weights["b2"]
        return result
