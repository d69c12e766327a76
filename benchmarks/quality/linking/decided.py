"""A set of questions as arrays: what a linker decided, what probes say of it, what was right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.linking.linked import Linked
from engine.schema_linking.branching import Kind, kind_of
from engine.schema_linking.linker import Decision
from engine.schema_linking.probes import Flags, Floats, Probes, assembled, inputs_of
from schema_catalog.types import ColumnKey


@dataclass(frozen=True, slots=True)
class Decisions:
    """m decisions about several questions, in a row.

    `told`: of each layer, (layers, m): what a probe says of them; in training what it is given, (layers, m, f).
    `wrong`, `tables`: which are wrong, which about a table, (m,). `questions`: the number of each one's question, (m,).
    `places`: its place among that question's.
    """

    told: Floats
    wrong: Flags
    tables: Flags
    questions: NDArray[np.int64]
    places: NDArray[np.int64]

    def of(self, kept: Flags) -> Decisions:
        """Those that `kept`, (m,), names."""
        own, numbers = (self.wrong[kept], self.tables[kept]), (self.questions[kept], self.places[kept])
        return Decisions(self.told[:, kept], *own, *numbers)

    def by(self, probes: Sequence[int]) -> Decisions:
        """The same with these probes alone."""
        return replace(self, told=self.told[list(probes)])

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


def decided(name: str, found: Sequence[Linked], probes: Probes) -> Decided:
    """The arrays of a set, by what these probes say."""

    def said(one: Linked, decisions: Sequence[Decision]) -> Floats:
        return probes.chances(assembled(inputs_of(one.states, decisions, one.snapshot), probes.layers))

    free = [
        [(each, each.linked != (each.element in one.question.gold)) for each in one.free] for one in found
    ]
    links = {
        kind: tuple(
            Links.of(
                frozenset(each.element for each in one.free if each.linked and kind_of(each) is kind), true
            )
            for one, true in zip(found, golds, strict=True)
        )
        for kind, golds in (
            (Kind.TABLE, [one.question.tables for one in found]),
            (Kind.COLUMN, [one.question.columns for one in found]),
        )
    }
    databases = tuple(one.question.database for one in found)
    forced = [one.forced for one in found]
    return Decided(name, together(found, free, said), together(found, forced, said), databases, links)


def together(
    found: Sequence[Linked],
    taken: Sequence[Sequence[tuple[Decision, bool]]],
    told: Callable[[Linked, Sequence[Decision]], Floats],
) -> Decisions:
    """What was decided about each question, with whether it was wrong, in one row."""
    pairs = [pair for each in taken for pair in each]
    sizes = [len(each) for each in taken]
    return Decisions(
        np.concatenate(
            [told(one, [decision for decision, _ in each]) for one, each in zip(found, taken, strict=True)],
            axis=1,
        ),
        np.array([wrong for _, wrong in pairs], dtype=np.bool_),
        np.array([kind_of(decision) is Kind.TABLE for decision, _ in pairs], dtype=np.bool_),
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate([np.arange(size) for size in sizes]),
    )
