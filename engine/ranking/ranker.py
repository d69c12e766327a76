"""Two stages (MetaSQL §III-C): the cosine of question and statement prunes, a cross-encoder and a linear head rank.

Owns what the head weighs and how many candidates the second stage reads. The networks are those of `engine.models`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.models.cross import CrossEncoder, Pair
from engine.models.packaged import read
from engine.ranking.phrases import phrases
from engine.settings import EncoderSettings
from engine.state import Candidate, Encoder, Ranking

NAME, FORMAT = "ranker", 1

FEATURES = ("whole", "phrases", "cosine", "logprob", "schema", "masked")
"""What the head weighs: the cross-encoder's two scores, the first stage's, and what the engine knows anyway."""

SECOND_STAGE = 10
"""Candidates that the cross-encoder reads at most (the paper's ten); beyond, the first stage chooses which."""

PRIOR = np.array([0.0, 0.0, 0.0, 6.0, 1.0, 0.0], dtype=np.float32)
"""The head without training: one nat of mean log-probability weighs six times as much as similarity."""

UNREAD = -1.0
"""Added to the score of what the second stage did not read, for each place it came after those that it did."""


class Reader(Protocol):
    """A cross-encoder."""

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Shape (len(pairs), 2): of the whole, and of the phrases together."""


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return Path(__file__).with_name("base")


def features(
    candidates: Sequence[Candidate], cosines: NDArray[np.float32], read: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Shape (n, len(FEATURES)). `cosines`: (n,); `read`: (n, 2)."""
    known = [(c.logprob or 0.0, c.schema_score, float(bool(c.masked))) for c in candidates]
    return np.concatenate([read, cosines[:, None], np.array(known, dtype=np.float32).reshape(-1, 3)], axis=1)


def cosines(question: str, said: Sequence[Sequence[str]], encoder: Encoder) -> NDArray[np.float32]:
    """The first stage: how near each statement in words is to the question, (n,)."""
    vectors = encoder.encode([question, *("; ".join(each) for each in said)])
    near: NDArray[np.float32] = vectors[1:] @ vectors[0]
    return near


class FirstStage:
    """`engine.state.Ranker` by the two encoders alone."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def rank(self, question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `engine.state.Ranker.rank`."""
        near = cosines(question, [phrases(each.sql) for each in candidates], self._encoder)
        return tuple(Ranking(float(value), first=float(value)) for value in near)


class TwoStages:
    """`engine.state.Ranker`. `head`: a weight a feature."""

    def __init__(self, head: NDArray[Any], reader: Reader, encoder: Encoder) -> None:
        self._head = np.asarray(head, dtype=np.float32)
        self._reader = reader
        self._encoder = encoder

    @classmethod
    def of(cls, folder: Path, encoder: Encoder, settings: EncoderSettings) -> TwoStages:
        """Reads an artifact; raises `engine.models.packaged.PackagedError`. `settings`: of the cross-encoder."""
        arrays = dict(read(folder, NAME, FORMAT).arrays)
        head = arrays.pop("head")
        return cls(head, CrossEncoder(arrays, settings), encoder)

    def rank(self, question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `engine.state.Ranker.rank`."""
        said = [phrases(each.sql) for each in candidates]
        near = cosines(question, said, self._encoder)
        order = [int(place) for place in np.argsort(-near, kind="stable")]
        kept = sorted(order[:SECOND_STAGE])
        judged = self._reader.scores([(question, said[number]) for number in kept])
        second = features([candidates[number] for number in kept], near[kept], judged) @ self._head
        worst = float(second.min(initial=0.0))
        found = {number: worst + UNREAD * place for place, number in enumerate(order[SECOND_STAGE:], 1)}
        rankings = {number: Ranking(score, float(near[number])) for number, score in found.items()}
        for number, score, scores in zip(kept, second, judged, strict=True):
            rankings[number] = Ranking(float(score), float(near[number]), float(scores.sum()))
        return tuple(rankings[number] for number in range(len(candidates)))
