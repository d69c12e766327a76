"""The schemas that one asker may see, stacked into arrays, and an inverted index of their words.

Tables are in the order of their databases, columns in the order of their tables. Built from restricted entries: no
array holds what an asker may not read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.routing.mapped import stacked
from engine.routing.schema_index_entry import SchemaIndexEntry, Vectors

Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of a word: `tables`, ascending, with `strengths`; `databases` with the greatest of their tables'."""

    tables: Numbers
    strengths: Vectors
    databases: Numbers
    database_strengths: Vectors


@dataclass(frozen=True, slots=True)
class Quantized:
    """C vectors as 8-bit integers: `values`, (C, d), each in units of its `scales`, (C,)."""

    values: NDArray[np.int8]
    scales: Vectors

    def __len__(self) -> int:
        """C."""
        return len(self.values)

    def __getitem__(self, numbers: Numbers) -> Quantized:
        """Some of them."""
        return Quantized(self.values[numbers], self.scales[numbers])


class Index:
    """D databases with T tables and C columns altogether, d dimensions.

    `parts`: the databases, in the order given, their arrays views of these: `whole`, (D, d); `tables`, (T, d);
    `columns`, (C, d). `quantized`: the columns once more, as 8-bit integers. `table_starts`, `table_ends`: (D,), each
    database's first table, and one past its last. `column_starts`, `column_ends`: (T,), each table's first column, and
    one past its last. `owners`: (T,), the database of each table; `keys`: (T,), its name. Every database has a table
    and every table has a column.

    `folder`: of the files that large arrays are mapped from; None keeps them in memory.
    """

    def __init__(self, parts: Sequence[SchemaIndexEntry], folder: Path | None = None) -> None:
        self.whole: Vectors = _stacked([part.whole[None] for part in parts])
        self.tables: Vectors = _stacked([part.tables for part in parts], folder)
        self.columns: Vectors = _stacked([part.columns for part in parts], folder)
        self.quantized = _quantized(parts, folder)
        self.table_starts = _starts([len(part.tables) for part in parts])
        firsts = _starts([len(part.columns) for part in parts])
        moved = [part.starts + first for part, first in zip(parts, firsts, strict=True)]
        self.column_starts: Numbers = np.concatenate(moved) if moved else np.zeros(0, dtype=np.intp)
        self.table_ends: Numbers = np.append(self.table_starts[1:], len(self.tables))
        self.column_ends: Numbers = np.append(self.column_starts[1:], len(self.columns))
        sizes = [len(part.tables) for part in parts]
        self.owners: Numbers = np.repeat(np.arange(len(sizes)), sizes)
        self.keys = tuple(table.key for part in parts for table in part.snapshot.tables)
        self.words = _inverted(parts, self.table_starts)
        self.parts = tuple(
            replace(
                part,
                whole=self.whole[number],
                tables=self.tables[table : table + len(part.tables)],
                columns=self.columns[column : column + len(part.columns)],
            )
            for number, (part, table, column) in enumerate(
                zip(parts, self.table_starts.tolist(), firsts.tolist(), strict=True)
            )
        )


def _stacked(arrays: list[Vectors], folder: Path | None = None) -> Vectors:
    return stacked(arrays, folder) if arrays else np.zeros((0, 0), dtype=np.float32)


def _quantized(parts: Sequence[SchemaIndexEntry], folder: Path | None) -> Quantized:
    """One database after the other: all at once would need the memory of the vectors again."""
    if not parts:
        return Quantized(np.zeros((0, 0), dtype=np.int8), np.zeros(0, dtype=np.float32))
    scales = [np.maximum(np.abs(part.columns).max(axis=1), 1e-12) / 127 for part in parts]
    small = [
        np.rint(part.columns / scale[:, None]).astype(np.int8)
        for part, scale in zip(parts, scales, strict=True)
    ]
    return Quantized(stacked(small, folder), np.concatenate(scales).astype(np.float32))


def runs(firsts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers of several runs, each of `sizes` from its of `firsts` on, and where each run begins."""
    starts = np.cumsum(sizes) - sizes
    return np.repeat(firsts - starts, sizes) + np.arange(sizes.sum()), starts


def _starts(sizes: Sequence[int]) -> Numbers:
    ends = np.cumsum(sizes, dtype=np.intp)
    return ends - np.asarray(sizes, dtype=np.intp)


def _inverted(parts: Sequence[SchemaIndexEntry], table_starts: Numbers) -> dict[str, Postings]:
    found: dict[str, list[tuple[int, Numbers, Vectors]]] = defaultdict(list)
    for number, part in enumerate(parts):
        first = table_starts[number]
        for word, (tables, strengths) in part.words.items():
            found[word].append((number, tables + first, strengths))
    return {word: _postings(held) for word, held in found.items()}


def _postings(held: list[tuple[int, Numbers, Vectors]]) -> Postings:
    return Postings(
        tables=np.concatenate([tables for _, tables, _ in held]),
        strengths=np.concatenate([strengths for _, _, strengths in held]),
        databases=np.array([number for number, _, _ in held], dtype=np.intp),
        database_strengths=np.array([strengths.max() for _, _, strengths in held], dtype=np.float32),
    )
