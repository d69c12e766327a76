"""Nonconformity scores of ranked candidates: by the encoder, the ranker and the model's verdict.

Owns each function's version: a changed computation is a new version, so that no threshold comes from other scores.
The model is asked by `engine.calibration.verdicts`.
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
    ScoreFunction.MODEL: "model-2",
    ScoreFunction.COMBINED: "combined-3",
}
"""The names under which scores are kept; `ScoreFunction.NONE` has no scores."""


def encoder_score(candidate: Candidate, entities: Sequence[Entity]) -> float:
    """Odin §6.3.2: minus the least, over entities, of the best cosine to an element that the statement reads; [-1, 1].

    -1 without entities, `UNSCORED` where it reads no element.
    """
    used = elements_read(candidate.columns, candidate.tables)
    if not entities:
        return -1.0
    if not used:
        return UNSCORED
    return -min(max(entity.similarities.get(key, -1.0) for key in used) for entity in entities)


def shortfall_score(candidate: Candidate, entities: Sequence[Entity]) -> float:
    """The largest, over entities, of best cosine in the schema less best cosine in the statement; [0, 2].

    Unlike Odin's score it does not count an entity that is near to no column, such as a value (*France*). 0 without
    entities, `UNSCORED` where the statement reads no element.
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
    """1 less the ranker's confidence, in [0, 1]."""
    return 1.0 - candidate.confidence


def model_score(yes: float | None, no: float | None) -> float:
    """Odin §6.3.1 as log-odds, ln p(no) - ln p(yes); `UNSCORED` where the model did not report both.

    The paper's p(no) orders candidates alike and saturates.
    """
    if yes is None or no is None:
        return UNSCORED
    return no - yes


def combined_score(parts: Sequence[float]) -> float:
    """The unweighted mean of the shortfall, confidence and model scores, each mapped to [0, 1]."""
    if any(math.isinf(part) for part in parts):
        return UNSCORED
    shortfall, confidence, verdict = parts
    return (min(1.0, shortfall) + confidence + 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, verdict))))) / 3
