"""The legs of the router over one catalog: questions in, outcomes of a journal out.

Owns which addends of a logit are kept for how many databases. Which questions are asked, and of which network, is
`training.routing_folds`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.routing.folds import Outcome, Placed, Variant
from engine.routing.decoder import BeamSettings
from engine.routing.pointer_api import Asked, Encoded, Pointer
from engine.routing.scoring import EncodedQuestion, SearchLimits, score
from engine.routing.training import Terrain
from engine.text.tokens import question_words

KEPT = 20
"""Databases of an outcome, the best ones; the right one is kept besides."""

BATCH = 64

_SHORTEST = BeamSettings(groups=1, width=1, longest=1)
"""Only the databases' logits are measured."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as a variant puts it."""

    id: str
    variant: Variant
    text: str
    database: str


Leg = Callable[[Sequence[Question]], list[Outcome]]

Read = Callable[[Sequence[str]], Sequence[Encoded]]
"""Questions to their vectors."""


def remembering(read: Read) -> Read:
    """`read`, each text once: the same questions are asked over several catalogs."""
    known: dict[str, Encoded] = {}

    def reading(texts: Sequence[str]) -> list[Encoded]:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(missing, read(missing) if missing else (), strict=True))
        return [known[text] for text in texts]

    return reading


def retrieval(terrain: Terrain, read: Read) -> Leg:
    """The retrieval leg; `read`: the untuned encoder."""
    parts = terrain.index.parts
    limits = SearchLimits(databases=len(parts))

    def outcomes(questions: Sequence[Question]) -> list[Outcome]:
        found = []
        for one, encoded in zip(questions, read([one.text for one in questions]), strict=True):
            asked = EncodedQuestion(encoded.sentence, encoded.tokens, question_words(one.text))
            scored = sorted(score(asked, terrain.index, limits=limits), key=lambda each: each.part)
            found.append(_outcome(terrain, one, np.stack([each.parts for each in scored], axis=1)))
        return found

    return outcomes


def learned(terrain: Terrain, pointer: Pointer, read: Read) -> Leg:
    """The learned leg with `pointer`, of temperature 1; `read`: its encoder."""

    def outcomes(questions: Sequence[Question]) -> list[Outcome]:
        texts = [one.text for one in questions]
        asked = [
            Asked.of(text, encoded, terrain.index, terrain.field)
            for text, encoded in zip(texts, read(texts), strict=True)
        ]
        pointed = pointer.point(asked, terrain.field, _SHORTEST)
        return [_outcome(terrain, one, each.parts) for one, each in zip(questions, pointed, strict=True)]

    return outcomes


def _outcome(terrain: Terrain, question: Question, parts: NDArray[np.floating]) -> Outcome:
    """`parts`: (P, D)."""
    logits = parts.sum(0)
    names = [part.snapshot.database for part in terrain.index.parts]
    order = np.argsort(-logits, kind="stable").tolist()
    rank = order.index(names.index(question.database)) + 1
    kept = order[:KEPT] + ([order[rank - 1]] if rank > KEPT else [])
    first = tuple(
        Placed(
            names[number],
            round(float(logits[number]), 4),
            tuple(round(value, 4) for value in parts[:, number].tolist()),
        )
        for number in kept
    )
    return Outcome(question.id, question.variant, question.text, question.database, rank, first)
