"""Nonconformity scores of candidates: the encoder's, the ranker's, and what a model's own verdict comes to.

Owns what each function computes from a ranked candidate, and its version: a changed computation is a new version,
so that no threshold is taken from scores of another kind. Asking the model is `engine.calibration.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.calibration.conformal import UNSCORED
from engine.core.candidate import Candidate
from engine.core.elements import Entity, elements_read
from engine.settings import ScoreFunction
from schema_catalog.types import ColumnKey

VERSIONS = {
    ScoreFunction.SHORTFALL: "shortfall-1",
    ScoreFunction.ENCODER: "encoder-1",
    ScoreFunction.CONFIDENCE: "confidence-2",
    ScoreFunction.MODEL: "model-1",
    ScoreFunction.COMBINED: "combined-2",
}
"""The names under which scores are kept; `ScoreFunction.NONE` has no scores."""


def encoder_score(candidate: Candidate, entities: Sequence[Entity]) -> float:
    """Odin §6.3.2: the negated similarity of the entity that the statement represents worst, in [-1, 1].

    Every entity counts with the nearest column or table that the statement reads. Without entities -1: nothing
    speaks against any statement. `UNSCORED` where it reads nothing of the catalog.
    """
    used = elements_read(candidate.columns, candidate.tables)
    if not entities:
        return -1.0
    if not used:
        return UNSCORED
    return -min(max(entity.similarities.get(key, -1.0) for key in used) for entity in entities)


def shortfall_score(candidate: Candidate, entities: Sequence[Entity]) -> float:
    """How much nearer the schema comes to an entity than the statement does, at the worst entity, in [0, 2].

    Odin's score asks how near that is; but a value (*France*) is near to no column, and then weighs on every statement
    alike. What counts here is what the statement passed over. Without entities 0. `UNSCORED` as `encoder_score`.
    """
    used = elements_read(candidate.columns, candidate.tables)
    if not entities:
        return 0.0
    if not used:
        return UNSCORED
    return max(_passed_over(entity, used) for entity in entities)


def _passed_over(entity: Entity, used: frozenset[ColumnKey]) -> float:
    nearest = max(entity.similarities.values(), default=-1.0)
    return nearest - max(entity.similarities.get(key, -1.0) for key in used)


def confidence_score(candidate: Candidate) -> float:
    """1 - the confidence that the ranker gave it, in [0, 1]."""
    return 1.0 - candidate.confidence


def model_score(yes: float | None, no: float | None) -> float:
    """Odin §6.3.1 as log-odds: ln p(no) - ln p(yes) from the two answers' log-probabilities.

    The paper takes the probability of "no"; its odds against "yes" order candidates as its share of the two does, and
    do not saturate. None stands for an answer that the model held for too unlikely to report; without both
    `UNSCORED`.
    """
    if yes is None or no is None:
        return UNSCORED
    return no - yes


def combined_score(parts: Sequence[float]) -> float:
    """The mean of the shortfall, the ranker's and the model's score, each brought to [0, 1]; no weight is fitted."""
    if any(math.isinf(part) for part in parts):
        return UNSCORED
    shortfall, confidence, verdict = parts
    return (min(1.0, shortfall) + confidence + 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, verdict))))) / 3
