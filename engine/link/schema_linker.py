"""The schema linker: a question's links as decisions, each about one element (RTS §3.1), and what they rule out.

Tables are decided depth-first over the schema graph (DBCopilot, algorithm 2), the likeliest first; one that is no
neighbour of a linked one has to be likelier. Columns are decided right after their table, where it is linked. What is
decided by little is a branching point (RTS §3.2), with what may be meant in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

import numpy as np

from engine.link.nodes import HiddenStates, NodeStates
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE, BranchingPoint, SchemaLinks
from engine.values.schema_graph import Graph
from engine.values.shipped import shipped
from schema_catalog.types import ColumnKey, Snapshot

APART = 2.0
"""Log-odds above which a table that joins with no linked one is linked."""


class Kind(StrEnum):
    """What a decision is about."""

    TABLE = "table"
    COLUMN = "column"


def kind_of(element: ColumnKey) -> Kind:
    """What `element` is."""
    return Kind.TABLE if element[2] == WHOLE_TABLE else Kind.COLUMN


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether `element` is linked. `log_odds`: its node's."""

    element: ColumnKey
    linked: bool
    log_odds: float

    @property
    def kind(self) -> Kind:
        """What it is about."""
        return kind_of(self.element)


def decide(
    states: NodeStates, snapshot: Snapshot, gold: frozenset[ColumnKey] | None = None
) -> tuple[Decision, ...]:
    """The decisions in their order: one for every table, and for every column of the linked tables.

    Depth-first over tables: the top of `stack` is next, and what it is empty of begins a piece. `gold`: the elements
    that are read, a table of which columns are read among them; each decision is then as where all before were right.
    """
    graph = Graph.of(snapshot)
    numbers = {element: number for number, element in enumerate(states.nodes)}
    odds = {
        number: float(states.log_odds[numbers[*table.key, WHOLE_TABLE]])
        for number, table in enumerate(snapshot.tables)
    }
    taken: list[Decision] = []
    stack: list[int] = []
    any_linked = False
    while odds:
        if stack:
            number, least = stack.pop(), 0.0
        else:
            number = max(odds, key=odds.__getitem__)
            least = APART if any_linked else float("-inf")
        if number not in odds:
            continue
        table, found = snapshot.tables[number], odds.pop(number)
        decision = Decision((*table.key, WHOLE_TABLE), found > least, found)
        taken.append(decision)
        if decision.linked if gold is None else decision.element in gold:
            any_linked = True
            columns = ((*table.key, column.name) for column in table.columns)
            taken += [_column_decision(column, numbers, states) for column in columns]
            left = odds.keys() & set(graph.neighbours(number))
            stack += sorted(left, key=odds.__getitem__)
    return tuple(taken)


def _column_decision(element: ColumnKey, numbers: dict[ColumnKey, int], states: NodeStates) -> Decision:
    found = float(states.log_odds[numbers[element]])
    return Decision(element, found > 0, found)


LEAST = 0.001
"""Names that are less probable are not offered."""

DOUBTFUL = 0.1
"""As `LEAST`, for one more statement, where the first reads such a name and leaves a linked one."""


def unlikely(
    links: SchemaLinks | None, snapshot: Snapshot, wanted: Iterable[ColumnKey], least: float = LEAST
) -> frozenset[ColumnKey]:
    """Elements less probable than `least`, but those `wanted`, their tables, and kept tables' keys.

    None of a table of which nothing else is kept, and none at all where no table of `snapshot` is.
    """
    if links is None:
        return frozenset()
    kept = {element for element, chance in links.probabilities.items() if chance >= least} | set(wanted)
    tables = {element[:2] for element in kept}.intersection(table.key for table in snapshot.tables)
    gone: set[ColumnKey] = set()
    for table in snapshot.tables:
        if table.key not in tables:
            gone.add((*table.key, WHOLE_TABLE))
            continue
        keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
        left = {(*table.key, column.name) for column in table.columns if column.name not in keys} - kept
        gone |= left if len(left) < len(table.columns) else set()
    return frozenset(gone) if tables else frozenset()


NAME, FORMAT = "linker", 1


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("models/linker_base")


CLOSE = {Kind.TABLE: 3.305, Kind.COLUMN: 2.724}
"""Log-odds, of either sign, up to which a decision is a branching point: of those that are wrong on databases that the
linker was not trained on, nine in ten are as close (split conformal, label-conditional)."""

ALTERNATIVES = 3


def branching_points(decisions: Sequence[Decision], states: NodeStates) -> tuple[BranchingPoint, ...]:
    """The `decisions` that may be wrong, with the likeliest elements of their kind that were decided the other way."""
    linked = frozenset(decision.element for decision in decisions if decision.linked)
    chances = probabilities(states)
    ordered = sorted(chances, key=chances.__getitem__, reverse=True)

    def others(decision: Decision) -> tuple[ColumnKey, ...]:
        found = (
            element
            for element in ordered
            if kind_of(element) is decision.kind
            and (element in linked) != decision.linked
            and element != decision.element
        )
        return tuple(islice(found, ALTERNATIVES))

    doubtful = (each for each in decisions if abs(each.log_odds) <= CLOSE[each.kind])
    return tuple(BranchingPoint(each.element, each.linked, others(each)) for each in doubtful)


class TrainedLinker:
    """`engine.values.ports.SchemaLinker`."""

    def __init__(self, model: HiddenStates) -> None:
        self._model = model

    def link(self, question: Question, snapshot: Snapshot) -> SchemaLinks | None:
        """See `engine.values.ports.SchemaLinker.link`; raises `EncoderUnavailableError`."""
        states = self._model.read(question, snapshot)
        if states is None:
            return None
        decisions = decide(states, snapshot)
        return SchemaLinks(
            probabilities(states),
            frozenset(decision.element for decision in decisions if decision.linked),
            branching_points(decisions, states),
            states.answerable,
        )


def probabilities(states: NodeStates) -> dict[ColumnKey, float]:
    """That each node is read: of a column, that its table is, times that it is where its table is."""
    alone = dict(zip(states.nodes, (1 / (1 + np.exp(-states.log_odds))).tolist(), strict=True))
    return {
        node: chance if node[2] == WHOLE_TABLE else chance * alone[*node[:2], WHOLE_TABLE]
        for node, chance in alone.items()
    }
