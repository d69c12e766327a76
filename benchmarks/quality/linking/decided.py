"""A set of questions as arrays: what a linker decided, by how much, what was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.linking.linked import Linked
from engine.schema_linking.linker import Decision, Kind
from schema_catalog.types import ColumnKey

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decisions:
    """m decisions about several questions, in a row.

    `margins`: how far the log-odds are from none, (m,). `wrong`, `tables`: which are wrong, which about a table, (m,).
    `questions`: the number of each one's question, (m,).
    """

    margins: Floats
    wrong: Flags
    tables: Flags
    questions: NDArray[np.int64]

    def of(self, kept: Flags) -> Decisions:
        """Those that `kept`, (m,), names."""
        return Decisions(self.margins[kept], self.wrong[kept], self.tables[kept], self.questions[kept])

    def of_kind(self, kind: Kind) -> Flags:
        """Which are about a table, or a column."""
        return self.tables if kind is Kind.TABLE else ~self.tables


@dataclass(frozen=True, slots=True)
class Links:
    """A question's links of one kind beside the true ones, as numbers of them."""

    linked: int
    true: int
    both: int

    @classmethod
    def of(cls, found: frozenset[ColumnKey], gold: frozenset[ColumnKey]) -> Links:
        """Of what was linked and what should be."""
        return cls(len(found), len(gold), len(found & gold))

    @property
    def exact(self) -> bool:
        """Whether they are the same."""
        return self.linked == self.true == self.both


@dataclass(frozen=True, slots=True)
class Decided:
    """A set by its name. `free`: decisions as the linker takes them; `forced`: after right ones alone.

    `databases`, `links`: of each question its database, and by kind its links.
    """

    name: str
    free: Decisions
    forced: Decisions
    databases: tuple[str, ...]
    links: dict[Kind, tuple[Links, ...]]

    def __len__(self) -> int:
        return len(self.databases)


def decided(name: str, found: Sequence[Linked]) -> Decided:
    """The arrays of a set."""
    free = [
        [(each, each.linked != (each.element in one.question.gold)) for each in one.free] for one in found
    ]
    links = {
        kind: tuple(
            Links.of(frozenset(each.element for each in one.free if each.linked and each.kind is kind), true)
            for one, true in zip(found, golds, strict=True)
        )
        for kind, golds in (
            (Kind.TABLE, [one.question.tables for one in found]),
            (Kind.COLUMN, [one.question.columns for one in found]),
        )
    }
    databases = tuple(one.question.database for one in found)
    return Decided(name, together(free), together([one.forced for one in found]), databases, links)


def together(taken: Sequence[Sequence[tuple[Decision, bool]]]) -> Decisions:
    """What was decided about each question, with whether it was wrong, in one row."""
    pairs = [pair for each in taken for pair in each]
    return Decisions(
        np.array([abs(decision.log_odds) for decision, _ in pairs]),
        np.array([wrong for _, wrong in pairs], dtype=np.bool_),
        np.array([decision.kind is Kind.TABLE for decision, _ in pairs], dtype=np.bool_),
        np.repeat(np.arange(len(taken)), [len(each) for each in taken]),
    )
