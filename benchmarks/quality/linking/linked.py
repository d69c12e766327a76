"""Questions with known links, and what a linker decides about them.

Owns the reading of the gold. Its data is no part of this repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness.drawing import read_items
from benchmarks.harness.schemas import gold_of
from benchmarks.quality.linking.abstaining import Decided, Decisions
from engine.link.nodes import HiddenStates
from engine.link.schema_linker import Decision, Kind, decide, kind_of
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import ColumnKey, Snapshot

SCHEMA = "public"

Elements = frozenset[ColumnKey]


@dataclass(frozen=True, slots=True)
class Known:
    """A question whose statement is known. `gold`: what it reads, tables as a whole and the columns that it names."""

    id: str
    database: str
    text: str
    gold: Elements

    @property
    def tables(self) -> Elements:
        """The tables of `gold`."""
        return frozenset(element for element in self.gold if element[2] == WHOLE_TABLE)


def known_questions(file: Path) -> list[Known]:
    """The questions of `file` whose columns are known, over schemas that are called `SCHEMA`."""
    return [
        Known(item["id"], item["db"], item["question"], gold_of(item, SCHEMA))
        for item in read_items(file)
        if item["columns"] is not None
    ]


def decided(questions: Iterable[Known], snapshots: Mapping[str, Snapshot], linker: HiddenStates) -> Decided:
    """What `linker` decides about each question whose schema fits it."""
    databases, free, forced = [], [], []
    right: dict[Kind, list[bool]] = {kind: [] for kind in Kind}
    for question in questions:
        snapshot = snapshots[question.database]
        if (states := linker.read(Question(question.text), snapshot)) is None:
            continue
        own = decide(states, snapshot)
        databases.append(question.database)
        free.append(judged(own, question.gold))
        forced.append(judged(decide(states, snapshot, question.gold), question.gold))
        for kind, known in right.items():
            linked = {each.element for each in own if each.linked and each.kind is kind}
            known.append(linked == {each for each in question.gold if kind_of(each) is kind})
    arrays = {kind: np.array(known, dtype=np.bool_) for kind, known in right.items()}
    return Decided(tuple(databases), _together(free), _together(forced), arrays)


def judged(taken: Iterable[Decision], gold: frozenset[ColumnKey]) -> list[tuple[Decision, bool]]:
    """The decisions, each with whether it is wrong: where all before it are right, a branching point."""
    return [(each, each.linked != (each.element in gold)) for each in taken]


def _together(taken: Sequence[Sequence[tuple[Decision, bool]]]) -> Decisions:
    """What was decided about each question, with whether it was wrong, in one row."""
    pairs = [pair for each in taken for pair in each]
    return Decisions(
        np.array([abs(decision.log_odds) for decision, _ in pairs]),
        np.array([wrong for _, wrong in pairs], dtype=np.bool_),
        np.array([decision.kind is Kind.TABLE for decision, _ in pairs], dtype=np.bool_),
        np.repeat(np.arange(len(taken)), [len(each) for each in taken]),
    )
