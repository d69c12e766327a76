"""The nonconformity score of a ranked candidate, and how far a statement passes a question's phrases over.

Owns the score's version: a changed computation is a new version, so that no threshold comes from other scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.calibration.conformal import UNSCORED
from engine.core.candidate import Candidate
from engine.core.elements import Entity, elements_read
from schema_catalog.types import ColumnKey

CONFIDENCE = "confidence-2"
"""The name under which scores are kept."""


def confidence_score(candidate: Candidate) -> float:
    """1 less the ranker's confidence, in [0, 1]."""
    return 1.0 - candidate.confidence


def shortfall(candidate: Candidate, entities: Sequence[Entity]) -> float:
    """The largest, over entities, of best cosine in the schema less best cosine in the statement; [0, 2].

    0 without entities, `UNSCORED` where the statement reads no element.
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
