"""Routing measured on databases held out of their fold: journals and figures.

The training databases fall into `FOLDS` folds by a hash of their names. Whatever is trained or chosen for a fold has
seen no question about its databases (`training.routing_folds`). Reads no question of the development sets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from benchmarks.harness.drawing import FOLDS
from benchmarks.harness.intervals import Figure, mean


class Variant(StrEnum):
    """How the questions are put."""

    PLAIN = "plain"
    SYNONYMS = "synonyms"
    WITHOUT_COLUMNS = "without-columns"


@dataclass(frozen=True, slots=True)
class Placed:
    """A database with its logit and what it is the sum of, in the order of `engine.models.network.PARTS`."""

    database: str
    logit: float
    parts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question. `rank`: of the right database, 1 the best. `first`: the best databases, and the right one."""

    id: str
    variant: Variant
    question: str
    database: str
    rank: int
    first: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Recall at 1 and 5 over n questions about `databases` databases."""

    n: int
    databases: int
    r1: Figure
    r5: Figure


def fold_of(database: str) -> int:
    """The fold of a training database, 0 to FOLDS - 1."""
    return int.from_bytes(hashlib.sha256(f"fold {database}".encode()).digest()[:8], "big") % FOLDS


def file_of(work: Path, variant: Variant, fold: int) -> Path:
    """Where a journal keeps the outcomes of one fold's questions."""
    return work / "outcomes" / f"{variant}-fold{fold}.jsonl"


def read(file: Path) -> list[Outcome]:
    """A fold's outcomes; none where it was not measured."""
    if not file.is_file():
        return []
    return [msgspec.json.decode(line, type=Outcome) for line in file.read_bytes().splitlines()]


def measured(work: Path, variant: Variant) -> dict[int, list[Outcome]]:
    """The outcomes of each fold that was measured."""
    found = {fold: read(file_of(work, variant, fold)) for fold in range(FOLDS)}
    return {fold: outcomes for fold, outcomes in found.items() if outcomes}


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """The figures of at least one outcome."""
    owners = [each.database for each in outcomes]
    r1, r5 = (mean([each.rank <= most for each in outcomes], owners) for most in (1, 5))
    return Figures(len(outcomes), len(set(owners)), r1, r5)
