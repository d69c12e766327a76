"""Questions with known links, and what a linker decides about them.

Owns the reading of the gold. Its data is no part of this repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.drawing import read_items
from benchmarks.harness.schemas import gold_of
from engine.core.elements import WHOLE_TABLE
from engine.schema_linking.linker import Decision, decide, teacher_forced
from engine.schema_linking.nodes import HiddenStates, NodeStates
from schema_catalog.types import ColumnKey, Snapshot

SCHEMA = "public"


@dataclass(frozen=True, slots=True)
class Known:
    """A question whose statement is known. `gold`: what it reads, tables as a whole and the columns that it names."""

    id: str
    database: str
    text: str
    gold: frozenset[ColumnKey]

    @property
    def tables(self) -> frozenset[ColumnKey]:
        """The tables of `gold`."""
        return frozenset(element for element in self.gold if element[2] == WHOLE_TABLE)

    @property
    def columns(self) -> frozenset[ColumnKey]:
        """The columns of `gold`."""
        return self.gold - self.tables


@dataclass(frozen=True, slots=True)
class Linked:
    """What a linker decides: by itself, and with every wrong decision put right after it (a branching point)."""

    question: Known
    snapshot: Snapshot
    states: NodeStates
    free: tuple[Decision, ...]
    forced: tuple[tuple[Decision, bool], ...]


def known_questions(file: Path) -> list[Known]:
    """The questions of `file` whose columns are known, over schemas that are called `SCHEMA`."""
    return [
        Known(item["id"], item["db"], item["question"], gold_of(item, SCHEMA))
        for item in read_items(file)
        if item["columns"] is not None
    ]


def linked(
    questions: Iterable[Known], snapshots: Mapping[str, Snapshot], linker: HiddenStates
) -> Iterator[Linked]:
    """The decisions about each question whose schema fits the linker."""
    for question in questions:
        snapshot = snapshots[question.database]
        states = linker.read(question.text, snapshot)
        if states is not None:
            forced = teacher_forced(states, snapshot, question.gold)
            yield Linked(question, snapshot, states, decide(states, snapshot), forced)
