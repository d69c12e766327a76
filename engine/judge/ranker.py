"""The two-stage ranker (MetaSQL §III-C): the cosine of question and statement prunes, a cross-encoder ranks.

It reads a statement as phrases (MetaSQL, table 2). The networks are those of `engine.models`; off by default
(`[generation] second_stage`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.models.cross import CrossEncoder, Pair
from engine.models.packaged import read
from engine.question.question import Question
from engine.statement.description import phrases
from engine.values.candidate import Candidate
from engine.values.ports import Encoder
from engine.values.settings import EncoderSettings
from engine.values.shipped import shipped

NAME, FORMAT = "ranker", 1

SECOND_STAGE = 10
"""Candidates that the cross-encoder reads at most, as in the paper; the first stage chooses them."""

UNREAD = -1.0
"""Added to the worst score of the second stage for each place behind it in the first."""


class Reader(Protocol):
    """A cross-encoder."""

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Shape (len(pairs), 2): of the whole statement, and of its phrases together."""


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("models/ranker_base")


def cross_encoder(folder: Path, settings: EncoderSettings) -> CrossEncoder:
    """Of an artifact; raises `engine.models.packaged.PackagedError`."""
    arrays = read(folder, NAME, FORMAT).arrays
    return CrossEncoder({name: array for name, array in arrays.items() if name != "head"}, settings)


class TwoStages:
    """`engine.values.ports.Ranker`. `head`: the weights of the cross-encoder's scores come first in it."""

    def __init__(self, head: NDArray[Any], reader: Reader, encoder: Encoder) -> None:
        self._head = np.asarray(head, dtype=np.float32)[:2]
        self._reader = reader
        self._encoder = encoder

    @classmethod
    def of(cls, folder: Path, encoder: Encoder, settings: EncoderSettings) -> TwoStages:
        """Reads an artifact; raises `engine.models.packaged.PackagedError`."""
        head = read(folder, NAME, FORMAT).arrays["head"]
        return cls(head, cross_encoder(folder, settings), encoder)

    def rank(self, question: Question, candidates: Sequence[Candidate]) -> Sequence[float]:
        """See `engine.values.ports.Ranker.rank`."""
        statements = [phrases(each.sql) for each in candidates]
        order = list(range(len(candidates)))
        if len(candidates) > SECOND_STAGE:
            vectors = self._encoder.encode([question.text, *("; ".join(each) for each in statements)])
            order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable").tolist()
        read_, unread = order[:SECOND_STAGE], order[SECOND_STAGE:]
        scores = self._reader.scores([(question.text, statements[n]) for n in read_]) @ self._head
        found = dict(zip(read_, scores.tolist(), strict=True))
        worst = min(found.values(), default=0.0)
        found |= {n: worst + UNREAD * place for place, n in enumerate(unread, 1)}
        return [found[n] for n in range(len(candidates))]
