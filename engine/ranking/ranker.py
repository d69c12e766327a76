"""Two stages (MetaSQL §III-C): the cosine of question and statement prunes, a cross-encoder and a linear head rank.

The networks are those of `engine.models`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.candidate import Candidate, likelihoods
from engine.core.ports import Encoder, Ranking
from engine.models.cross import CrossEncoder, Pair
from engine.models.packaged import read
from engine.models.shipped import shipped
from engine.ranking.phrases import phrases
from engine.settings import EncoderSettings

NAME, FORMAT = "ranker", 1

FEATURES = ("whole", "phrases", "logprob", "schema", "masked")
"""The head's features: the cross-encoder's two scores, then the candidate's own."""

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
    return shipped("ranking/base")


def known_features(candidates: Sequence[Candidate]) -> list[tuple[float, float, float]]:
    """Of each candidate those of `FEATURES` that the cross-encoder does not give."""
    return [
        (likelihood, each.schema_score, float(bool(each.masked)))
        for each, likelihood in zip(candidates, likelihoods(candidates), strict=True)
    ]


def features(known: Sequence[tuple[float, float, float]], judged: NDArray[np.float32]) -> NDArray[np.float32]:
    """Shape (n, len(FEATURES)). `known`: `known_features`; `judged`: the cross-encoder's scores, (n, 2)."""
    return np.concatenate([judged, np.array(known, dtype=np.float32).reshape(-1, 3)], axis=1)


def cosines(question: str, statements: Sequence[Sequence[str]], encoder: Encoder) -> NDArray[np.float32]:
    """The first stage: the cosine of each statement, as phrases, and the question, (n,)."""
    vectors = encoder.encode([question, *("; ".join(each) for each in statements)])
    found: NDArray[np.float32] = vectors[1:] @ vectors[0]
    return found


def cross_encoder(folder: Path, settings: EncoderSettings) -> CrossEncoder:
    """Of an artifact; raises `engine.models.packaged.PackagedError`."""
    arrays = read(folder, NAME, FORMAT).arrays
    return CrossEncoder({name: array for name, array in arrays.items() if name != "head"}, settings)


class FirstStage:
    """`engine.core.ports.Ranker` by the two encoders alone."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def rank(self, question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `engine.core.ports.Ranker.rank`."""
        first = cosines(question, [phrases(each.sql) for each in candidates], self._encoder)
        return tuple(Ranking(float(value), first=float(value)) for value in first)


class TwoStages:
    """`engine.core.ports.Ranker`. `head`: a weight for each of `FEATURES`."""

    def __init__(self, head: NDArray[Any], reader: Reader, encoder: Encoder) -> None:
        self._head = np.asarray(head, dtype=np.float32)
        self._reader = reader
        self._encoder = encoder

    @classmethod
    def of(
        cls, folder: Path, encoder: Encoder, settings: EncoderSettings, reader: Reader | None = None
    ) -> TwoStages:
        """Reads an artifact; raises `engine.models.packaged.PackagedError`.

        `reader`: the artifact's cross-encoder where it runs elsewhere; None makes one with `settings`.
        """
        head = read(folder, NAME, FORMAT).arrays["head"]
        return cls(head, reader or cross_encoder(folder, settings), encoder)

    def rank(self, question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `engine.core.ports.Ranker.rank`."""
        statements = [phrases(each.sql) for each in candidates]
        if len(candidates) <= SECOND_STAGE:
            return self._second(question, candidates, statements)
        first = cosines(question, statements, self._encoder)
        order = [int(place) for place in np.argsort(-first, kind="stable")]
        kept = sorted(order[:SECOND_STAGE])
        second = self._second(question, [candidates[n] for n in kept], [statements[n] for n in kept])
        worst = min(each.score for each in second)
        found = {
            number: Ranking(worst + UNREAD * place) for place, number in enumerate(order[SECOND_STAGE:], 1)
        }
        found |= dict(zip(kept, second, strict=True))
        return tuple(replace(found[number], first=float(value)) for number, value in enumerate(first))

    def _second(
        self, question: str, candidates: Sequence[Candidate], statements: Sequence[Sequence[str]]
    ) -> tuple[Ranking, ...]:
        judged = self._reader.scores([(question, each) for each in statements])
        scores = (features(known_features(candidates), judged) * self._head).sum(axis=1)
        return tuple(
            Ranking(float(score), second=float(both.sum()))
            for score, both in zip(scores, judged, strict=True)
        )
