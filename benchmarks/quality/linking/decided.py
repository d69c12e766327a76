"""A set of questions as arrays: what a linker decided, what probes say of it, what was right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    `chances`: P(branching point) by each probe, (layers, m). `wrong`, `tables`: which are wrong, which about a table,
    (m,). `questions`: the number of each one's question, (m,). `places`: its place among that question's.
    """

    chances: Floats
    wrong: Flags
    tables: Flags
    questions: NDArray[np.int64]
    places: NDArray[np.int64]

    def of(self, kept: Flags) -> Decisions:
        """Those that `kept`, (m,), names."""
        return Decisions(
            self.chances[:, kept],
            self.wrong[kept],
            self.tables[kept],
            self.questions[kept],
            self.places[kept],
        )

    def by(self, probes: Sequence[int]) -> Decisions:
        """The same with these probes alone."""
        return replace(self, chances=self.chances[list(probes)])

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

    @property
    def precision(self) -> float:
        """Of what was linked the true share; 1 where nothing was."""
        return self.both / self.linked if self.linked else 1.0

    @property
    def recall(self) -> float:
        """Of what is true the linked share; 1 where nothing is."""
        return self.both / self.true if self.true else 1.0


@dataclass(frozen=True, slots=True)
class Decided:
    """A set by its name. `free`: decisions as the linker takes them; `forced`: after right ones alone.

    `databases`, `tables`, `columns`: of each question its database and links.
    """

    name: str
    free: Decisions
    forced: Decisions
    databases: tuple[str, ...]
    tables: tuple[Links, ...]
    columns: tuple[Links, ...]

    def __len__(self) -> int:
        return len(self.databases)

    def by(self, probes: Sequence[int]) -> Decided:
        """The same with these probes alone."""
        return replace(self, free=self.free.by(probes), forced=self.forced.by(probes))


def decided(name: str, found: Iterable[Linked], probes: Probes) -> Decided:
    """The arrays of a set."""
    free, forced = _Rows(probes), _Rows(probes)
    databases, tables, columns = [], [], []
    for one in found:
        gold = one.question.gold
        free.add(one, [(decision, decision.linked != (decision.element in gold)) for decision in one.free])
        forced.add(one, one.forced)
        links = {kind: frozenset(_linked(one.free, kind)) for kind in Kind}
        databases.append(one.question.database)
        tables.append(Links.of(links[Kind.TABLE], one.question.tables))
        columns.append(Links.of(links[Kind.COLUMN], one.question.columns))
    return Decided(
        name, free.decisions(), forced.decisions(), tuple(databases), tuple(tables), tuple(columns)
    )


def _linked(decisions: Iterable[Decision], kind: Kind) -> Iterable[ColumnKey]:
    return (each.element for each in decisions if each.linked and kind_of(each) is kind)


class _Rows:
    """Decisions in the collecting."""

    def __init__(self, probes: Probes) -> None:
        self._probes = probes
        self._parts: list[Decisions] = []

    def add(self, one: Linked, taken: Iterable[tuple[Decision, bool]]) -> None:
        """The decisions about the next question, with whether each is wrong."""
        pairs = list(taken)
        decisions = [decision for decision, _ in pairs]
        given = assembled(inputs_of(one.states, decisions, one.snapshot), self._probes.layers)
        self._parts.append(
            Decisions(
                self._probes.chances(given),
                np.array([wrong for _, wrong in pairs], dtype=np.bool_),
                np.array([kind_of(decision) is Kind.TABLE for decision in decisions], dtype=np.bool_),
                np.full(len(pairs), len(self._parts)),
                np.arange(len(pairs)),
            )
        )

    def decisions(self) -> Decisions:
        """All of them."""
        return Decisions(
            np.concatenate([part.chances for part in self._parts], axis=1),
            *(
                np.concatenate([getattr(part, name) for part in self._parts])
                for name in ("wrong", "tables", "questions", "places")
            ),
        )


def without(known: Decisions, questions: Flags) -> Decisions:
    """The decisions about other questions than `questions`, (questions,), names."""
    return known.of(~questions[known.questions])
