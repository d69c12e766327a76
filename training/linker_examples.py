"""What the schema linker is trained and measured on: questions with schemas and what of these is read.

Owns reading them, varying the schemas, and questions whose schema does not hold what they ask for: another database's,
or their own without something that is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.drawing import read_items
from benchmarks.harness.linker_split import Part, part_of
from benchmarks.harness.schemas import gold_of, snapshots
from engine.models.encoder import MiniLMEncoder
from engine.question.names import name_words
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import ColumnKey, Snapshot, TableKey

QUESTIONS = ("spider/train.jsonl", "spider/train_others.jsonl")
CROWDED = 150
"""Questions taken of one database at most."""

NODES = 72
"""Tables and columns of a schema in training at most; what is not read goes first."""

NEAR = 6
"""Databases most like one, from which a wrong one is taken."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with a schema. `gold`: the elements of it that are read, tables among them."""

    question: str
    snapshot: Snapshot
    gold: frozenset[ColumnKey]
    answerable: bool = True


def questions(bench: Path, part: Part) -> list[Example]:
    """The questions of one part of the training databases, `CROWDED` of each at most, the first in the files."""
    schemas = snapshots(bench)
    counts: dict[str, int] = defaultdict(int)
    found = []
    for item in (item for name in QUESTIONS for item in read_items(bench / name)):
        counts[item["db"]] += 1
        if part_of(item["db"]) is part and counts[item["db"]] <= CROWDED:
            found.append(Example(item["question"], schemas[item["db"]], gold_of(item, item["db"])))
    return found


def varied(example: Example, rng: np.random.Generator) -> Example:
    """The example with its tables in another order, and mostly with fewer of the elements that are not read."""
    tables, columns = rng.choice((0.0, 0.0, 0.3, 0.6)), rng.choice((0.0, 0.0, 0.2, 0.4))
    kept = {
        (*table.key, column.name)
        for table in example.snapshot.tables
        if (*table.key, WHOLE_TABLE) in example.gold or rng.random() >= tables
        for column in table.columns
        if (*table.key, column.name) in example.gold or rng.random() >= columns
    }
    smaller = _limited(example.snapshot, kept, example.gold, rng)
    order = rng.permutation(len(smaller.tables))
    return replace(example, snapshot=replace(smaller, tables=tuple(smaller.tables[n] for n in order)))


def _limited(
    snapshot: Snapshot, kept: set[ColumnKey], gold: frozenset[ColumnKey], rng: np.random.Generator
) -> Snapshot:
    """The part of the snapshot in `kept`, less unread tables, then unread columns, until it fits."""
    aside = [table.key for table in snapshot.tables if (*table.key, WHOLE_TABLE) not in gold]
    rng.shuffle(aside)
    while aside and len(kept) + len({column[:2] for column in kept}) > NODES:
        key = tuple(aside.pop())
        kept = {column for column in kept if column[:2] != key}
    unread = sorted(kept - gold)
    excess = len(kept) + len({column[:2] for column in kept}) - NODES
    if excess > 0:
        kept = kept - {unread[n] for n in rng.permutation(len(unread))[:excess]}
    for table in snapshot.tables:  # a table that is read for its rows alone keeps a column
        if (*table.key, WHOLE_TABLE) in gold and not any(column[:2] == table.key for column in kept):
            kept = kept | {(*table.key, table.columns[0].name)}
    return snapshot.restricted_to(frozenset(kept))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """`near`: for each database the most similar others, most similar first."""

    schemas: Mapping[str, Snapshot]
    near: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(schemas: Mapping[str, Snapshot]) -> Neighbours:
        """By the encoder's cosine of their tables' names."""
        names = sorted(schemas)
        texts = [", ".join(name_words(table.name) for table in schemas[name].tables) for name in names]
        vectors: NDArray[np.float32] = MiniLMEncoder().encode(texts)
        order = np.argsort(-(vectors @ vectors.T), axis=1)
        near = {
            name: tuple(names[n] for n in order[row] if n != row)[:NEAR] for row, name in enumerate(names)
        }
        return Neighbours(schemas, near)


def unanswerable(example: Example, neighbours: Neighbours, rng: np.random.Generator) -> Example | None:
    """The question with a schema that does not hold what it asks for; None where none was found."""
    kind = rng.random()
    snapshot: Snapshot | None
    if kind < 0.2:  # noqa: PLR2004  shares of the four kinds
        snapshot = _elsewhere(example, sorted(neighbours.schemas), neighbours, rng)
    elif kind < 0.5:  # noqa: PLR2004  as above
        snapshot = _elsewhere(example, neighbours.near[example.snapshot.database], neighbours, rng)
    else:
        snapshot = _without(example, rng, whole_table=kind > 0.8)  # noqa: PLR2004  as above
    if snapshot is None:
        return None
    return Example(example.question, snapshot, frozenset(), answerable=False)


def _elsewhere(
    example: Example, names: Sequence[str], neighbours: Neighbours, rng: np.random.Generator
) -> Snapshot | None:
    """One of the databases, unless it has tables of the same names."""
    name = str(rng.choice(list(names)))
    there = {name_words(table.name) for table in neighbours.schemas[name].tables}
    wanted = {name_words(element[1]) for element in example.gold}
    return None if wanted <= there else neighbours.schemas[name]


def _without(example: Example, rng: np.random.Generator, *, whole_table: bool) -> Snapshot | None:
    """The schema without a table that is read, or without read columns of one name that join nothing."""
    snapshot = example.snapshot
    everything = {(*table.key, column.name) for table, column in snapshot.columns()}
    if whole_table:
        tables: list[TableKey] = sorted({element[:2] for element in example.gold})
        lost = tables[int(rng.integers(len(tables)))]
        gone = {column for column in everything if column[:2] == lost}
    else:
        names = sorted({element[2] for element in example.gold} - {WHOLE_TABLE} - _keys(snapshot))
        if not names:
            return None
        name = names[int(rng.integers(len(names)))]
        gone = {column for column in everything if column[2] == name}
    left = snapshot.restricted_to(frozenset(everything - gone))
    return left if left.tables else None


def _keys(snapshot: Snapshot) -> set[str]:
    """Names of columns in keys and foreign keys."""
    return {
        name
        for table in snapshot.tables
        for names in (table.primary_key, *(key.columns for key in table.foreign_keys))
        for name in names
    }
