"""Questions with known links, and what a linker decides about them.

Owns the reading of the gold. Its data is no part of this repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.routing.collection import Item, read_items, read_views
from engine.core.elements import WHOLE_TABLE
from engine.schema_linking.linker import Decision, decide, teacher_forced
from engine.schema_linking.nodes import HiddenStates, NodeStates
from schema_catalog.types import ColumnKey, Snapshot

QUESTIONS = ("spider/train.jsonl",)
"""Those that probes are trained and calibrated on. Spider's others come from older collections, of two of the probe
part's databases and none of the calibration part's: with them, more is flagged in vain in folds of the rest."""

DEV = ("spider/dev.jsonl",)


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


def snapshots_of(bench: Path) -> dict[str, Snapshot]:
    """The schemas of Spider's databases by name."""
    return {snapshot.database: snapshot for snapshot, _ in read_views(bench, pool=False)}


def known_questions(bench: Path, files: Iterable[str]) -> list[Known]:
    """The questions of `files` whose columns are known."""
    return [
        _known(item) for file in files for item in read_items(bench / file) if item["columns"] is not None
    ]


def _known(item: Item) -> Known:
    tables = {("public", table, WHOLE_TABLE) for table in item["tables"]}
    columns = {("public", *column.split(".", 1)) for column in item["columns"]}
    return Known(item["id"], item["db"], item["question"], frozenset(tables | columns))


def linked(
    questions: Iterable[Known], snapshots: Mapping[str, Snapshot], linker: HiddenStates
) -> Iterator[Linked]:
    """The decisions about each question whose schema fits the linker."""
    for question in questions:
        snapshot = snapshots[question.database]
        states = linker.read(question.text, snapshot)
        if states is not None:
            yield Linked(
                question,
                snapshot,
                states,
                decide(states, snapshot),
                teacher_forced(states, snapshot, question.gold),
            )
