"""Routing measured on databases held out of their fold: which fold a database is in, and what a run's journal says.

The training databases fall into `FOLDS` folds by a hash of their names. Whatever is trained or chosen for a fold has
seen no question about its databases (`training.routing_folds`). Owns the journal's lines and the figures made of them;
reads no question of the development sets.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.quality.resampling import estimate

FOLDS = 5


class Variant(StrEnum):
    """How the questions are put."""

    PLAIN = "plain"
    SYNONYMS = "synonyms"
    WITHOUT_COLUMNS = "without-columns"


class Leg(StrEnum):
    """What ranked the databases."""

    LEARNED = "learned"
    RETRIEVAL = "retrieval"
    BM25 = "bm25"
    SXFMR = "sxfmr"


TUNED = (Leg.LEARNED, Leg.RETRIEVAL)
"""Legs whose logits and their addends are kept."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A database with its logit and what it is the sum of, in the order of the leg's parts."""

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

    @property
    def picked(self) -> str:
        """The database ranked first."""
        return self.first[0].database


@dataclass(frozen=True, slots=True)
class Cell:
    """One file of a journal: a leg's outcomes on one fold's questions among `databases` databases."""

    leg: Leg
    variant: Variant
    databases: int
    fold: int

    def file(self, work: Path) -> Path:
        """Its place in a journal's folder."""
        return work / "outcomes" / f"{self.leg}-{self.variant}-{self.databases}-fold{self.fold}.jsonl"


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of n questions about `databases` databases; `low`, `high`: 95 % interval of `r1`, resampling databases."""

    n: int
    databases: int
    r1: float
    r5: float
    low: float
    high: float
    by_database: float
    """Mean over databases of `r1` in each."""


def fold_of(database: str) -> int:
    """The fold of a training database, 0 to FOLDS - 1."""
    digest = hashlib.sha256(f"fold {database}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % FOLDS


def write(file: Path, outcomes: Sequence[Outcome]) -> None:
    """Writes a cell, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_suffix(".new")
    made.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in outcomes))
    made.replace(file)


def read(file: Path) -> list[Outcome]:
    """A cell's outcomes; none where it was not measured."""
    if not file.is_file():
        return []
    return [msgspec.json.decode(line, type=Outcome) for line in file.read_bytes().splitlines()]


def measured(work: Path, leg: Leg, variant: Variant, databases: int) -> dict[int, list[Outcome]]:
    """The outcomes of each fold that was measured."""
    cells = {fold: read(Cell(leg, variant, databases, fold).file(work)) for fold in range(FOLDS)}
    return {fold: outcomes for fold, outcomes in cells.items() if outcomes}


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """The figures of at least one outcome."""
    held: dict[str, list[int]] = defaultdict(list)
    for each in outcomes:
        held[each.database].append(each.rank)
    r1 = estimate([each.rank == 1 for each in outcomes], [each.database for each in outcomes])
    return Figures(
        n=len(outcomes),
        databases=len(held),
        r1=r1.value,
        r5=float(np.mean([each.rank <= 5 for each in outcomes])),  # noqa: PLR2004  recall at 5
        low=r1.low,
        high=r1.high,
        by_database=float(np.mean([np.mean([rank == 1 for rank in ranks]) for ranks in held.values()])),
    )
