"""Predicts conditions: a small network over a question's features, in numpy.

A composition's score is the sum of its labels' log-odds and of its prior; the probabilities are the softmax over the
compositions seen in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.conditions.features import features
from engine.conditions.types import Condition, Hardness, Operator, StatementKind
from engine.core.ports import Encoder
from engine.models.packaged import read
from engine.models.shipped import shipped
from schema_catalog.types import Snapshot

NAME, FORMAT = "conditions", 1

LABELS: tuple[Operator | Hardness, ...] = (*Operator, *Hardness)
"""The network's outputs, in order."""


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("conditions/base")


def indicator(kind: StatementKind) -> NDArray[np.float32]:
    """A composition's labels as zeros and ones, shape (len(LABELS),)."""
    there = {*kind.operators, kind.hardness}
    return np.array([label in there for label in LABELS], dtype=np.float32)


def kind_from(row: NDArray[Any]) -> StatementKind:
    """The inverse of `indicator`; raises `StopIteration` without a hardness."""
    there = [label for label, value in zip(LABELS, row, strict=True) if value]
    operators = frozenset(label for label in there if isinstance(label, Operator))
    return StatementKind(operators, next(label for label in there if isinstance(label, Hardness)))


class Classifier:
    """`engine.core.ports.Conditions`, of one artifact."""

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

    def predict(self, question: str, snapshot: Snapshot) -> tuple[Condition, ...]:
        """All the compositions seen in training, likeliest first; the probabilities sum to 1."""
        scores = self._rows @ self.labels(question, snapshot) + self._weights["prior"]
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        order = np.argsort(-chances, kind="stable")
        return tuple(Condition(self._kinds[number], float(chances[number])) for number in order)

    def labels(self, question: str, snapshot: Snapshot) -> NDArray[np.float32]:
        """Log-odds of each of `LABELS`."""
        given = features(question, snapshot, self._encoder, self._cues)
        hidden = np.maximum(given @ self._weights["w1"] + self._weights["b1"], 0.0)
        result: NDArray[np.float32] = hidden @ self._weights["w2"] + self._weights["b2"]
        return result
