"""The schemas that one asker may see as stacked arrays and an inverted index of their words.

Owns the texts that are encoded, and files that large arrays are mapped from: named by what they hold, so never stale,
and shared by the engines of a machine. Built from restricted snapshots: nothing that an asker may not read is in it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog
from numpy.typing import NDArray

from engine.values.errors import for_log
from engine.values.schema_graph import Graph
from schema_catalog.types import Column, Snapshot, Table
from schema_catalog.words import folded_name, identifier_words

LEAST = 16 << 20
"""Bytes of an array that a file is made for; a smaller one is not worth one."""

KEPT_S = 7 * 86_400.0
"""Seconds that a file is kept which no engine has opened. Who has it mapped keeps it beyond."""

_SUFFIX = ".npy"

_LOG = structlog.get_logger()

Scalar = TypeVar("Scalar", np.float32, np.int8)


def stacked(arrays: Sequence[NDArray[Scalar]], folder: Path | None) -> NDArray[Scalar]:
    """The arrays, at least one, one after the other; mapped from a file of `folder` where that is worth it."""
    if folder is None or sum(each.nbytes for each in arrays) < LEAST:
        return np.concatenate(arrays)
    try:
        return _mapped(arrays, folder)
    except OSError as error:
        _LOG.warning("index_not_mapped", folder=str(folder), error=for_log(error))
        return np.concatenate(arrays)


def _mapped(arrays: Sequence[NDArray[Scalar]], folder: Path) -> NDArray[Scalar]:
    shape = (sum(len(each) for each in arrays), *arrays[0].shape[1:])
    digest = hashlib.blake2b(f"{arrays[0].dtype} {shape}".encode(), digest_size=20)
    for each in arrays:
        digest.update(np.ascontiguousarray(each).data)
    path = folder / f"{digest.hexdigest()}{_SUFFIX}"
    if path.exists():
        os.utime(path)
    else:
        _tidy(folder)
        _write(arrays, shape, path)
    # The plain array: slices of a `memmap` cost ten times as much.
    found: NDArray[Scalar] = np.asarray(np.load(path, mmap_mode="r"))
    return found


def _write(arrays: Sequence[NDArray[Scalar]], shape: tuple[int, ...], path: Path) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            header = {"descr": arrays[0].dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_2_0(file, header)
            for each in arrays:
                file.write(np.ascontiguousarray(each).data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink()
            raise


def _tidy(folder: Path) -> None:
    oldest = time.time() - KEPT_S
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()


Vectors = NDArray[np.float32]

NAMED = 1.0
"""Weight of a question's word in a table's name."""

MENTIONED = 0.8
"""Weight of a question's word in a column's name, a comment or a term."""

PROPOSED, PROPOSED_NEAR = 0.4, 0.7
"""The same in what the language model proposes to call something, and what a cosine to that counts for: both less than
of what a DBA says. Fitted beside `engine.route.scoring`'s weights."""


@dataclass(frozen=True, slots=True)
class SchemaIndexEntry:
    """The arrays of one database: T tables, C columns, synonyms and terms, d dimensions.

    `whole`: (d,), the database by its name and its tables' names. `tables`: (T, d), each by its name and its
    columns'. `columns`: (C, d), each with its table's name, proposed words of length `PROPOSED_NEAR`; `starts`: (T,),
    where each table's columns begin. `questions`: (Q, d), those that were made of it.
    `words`: word → (tables that hold it, their weights). `graph`: made here, so that no question waits for it.
    """

    snapshot: Snapshot
    whole: Vectors
    tables: Vectors
    columns: Vectors
    starts: NDArray[np.intp]
    questions: Vectors
    words: dict[str, tuple[NDArray[np.intp], Vectors]]
    graph: Graph


def build(snapshot: Snapshot, encode: Callable[[Sequence[str]], Vectors]) -> SchemaIndexEntry:
    """The entry of a snapshot with at least one column; `encode` is called once."""
    tables = [_table_text(table) for table in snapshot.tables]
    said = [[*_column_texts(table), *_terms(snapshot, table)] for table in snapshot.tables]
    proposed = list(map(_proposed_texts, snapshot.tables))
    columns = list(chain.from_iterable(chain.from_iterable(zip(said, proposed, strict=True))))
    questions = [each.question for each in snapshot.made_questions]
    vectors = encode([_database_text(snapshot), *tables, *columns, *questions])
    _, first, last = np.cumsum([1, len(tables), len(columns)]).tolist()
    sizes = [len(own) + len(more) for own, more in zip(said, proposed, strict=True)]
    return SchemaIndexEntry(
        snapshot=snapshot,
        whole=vectors[0],
        tables=vectors[1 : 1 + len(tables)],
        columns=_weighed(vectors[first:last], said, proposed),
        starts=np.cumsum([0, *sizes[:-1]], dtype=np.intp),
        questions=vectors[last:],
        words=_words(snapshot),
        graph=Graph.of(snapshot),
    )


def _weighed(columns: Vectors, said: Sequence[list[str]], proposed: Sequence[list[str]]) -> Vectors:
    """The vectors of what is said, and shorter ones of what is proposed: no cosine to these is as near."""
    if not any(proposed):
        return columns
    lengths = [
        np.repeat(np.array([1, PROPOSED_NEAR], dtype=np.float32), [len(own), len(more)])
        for own, more in zip(said, proposed, strict=True)
    ]
    return columns * np.concatenate(lengths)[:, None]


def _database_text(snapshot: Snapshot) -> str:
    names = ", ".join(folded_name(table.name) for table in snapshot.tables)
    return " ".join((f"{folded_name(snapshot.database)}: {names}", *snapshot.said))


def _table_text(table: Table) -> str:
    columns = ", ".join(folded_name(column.name) for column in table.columns)
    text = f"{folded_name(table.name)}: {columns}"
    return f"{text}. {table.description}" if table.description else text


def _column_texts(table: Table) -> list[str]:
    """Of each column, then one for each synonym: behind the names they would blur what the names say."""
    name = folded_name(table.name)
    texts = [_column_text(name, column) for column in table.columns]
    spoken = [f"{name} {synonym}" for column in table.columns for synonym in column.synonyms]
    return [*texts, *spoken, *table.synonyms]


def _proposed_texts(table: Table) -> list[str]:
    name = folded_name(table.name)
    words = [f"{name} {word}" for column in table.columns for word in column.proposed_synonyms]
    return [*words, *table.proposed_synonyms]


def _terms(snapshot: Snapshot, table: Table) -> list[str]:
    return [term.name for term in snapshot.terms if any(element[:2] == table.key for element in term.reads)]


def _column_text(table: str, column: Column) -> str:
    text = f"{table} {folded_name(column.name)}"
    return f"{text}: {column.description}" if column.description else text


def _words(snapshot: Snapshot) -> dict[str, tuple[NDArray[np.intp], Vectors]]:
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for number, table in enumerate(snapshot.tables):
        elements: tuple[Table | Column, ...] = (table, *table.columns)
        for element in elements:
            for word in identifier_words(" ".join(element.proposed_synonyms)):
                found[word][number] = PROPOSED
        mentioned = [*snapshot.said, *_terms(snapshot, table), table.description or ""]
        for column in table.columns:
            mentioned += [column.name, column.description or "", *column.synonyms]
        for text in mentioned:
            for word in identifier_words(text):
                found[word][number] = MENTIONED
        for word in identifier_words(" ".join((table.name, *table.synonyms))):
            found[word][number] = NAMED
    return {
        word: (np.fromiter(held, dtype=np.intp), np.fromiter(held.values(), dtype=np.float32))
        for word, held in found.items()
    }


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
    `columns`, (C, d); `questions`, (Q, d). `middles`: (D, d), of each database's questions. `quantized`: the columns
    once more, as 8-bit integers. `table_starts`, `table_ends`: (D,), each database's first table, and one past its
    last. `column_starts`, `column_ends`: (T,), each table's first column, and one past its last. `owners`: (T,), the
    database of each table; `keys`: (T,), its name. Every database has a table and every table has a column.

    `folder`: of the files that large arrays are mapped from; None keeps them in memory.
    """

    def __init__(self, parts: Sequence[SchemaIndexEntry], folder: Path | None = None) -> None:
        self.whole: Vectors = _stacked([part.whole[None] for part in parts])
        self.tables: Vectors = _stacked([part.tables for part in parts], folder)
        self.columns: Vectors = _stacked([part.columns for part in parts], folder)
        self.quantized = _quantized(parts, folder)
        self.questions: Vectors = _stacked([part.questions for part in parts], folder)
        self.middles: Vectors = _stacked([_middle(part.questions)[None] for part in parts])
        questions = _starts([len(part.questions) for part in parts])
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
                questions=self.questions[question : question + len(part.questions)],
            )
            for number, (part, table, column, question) in enumerate(
                zip(parts, *(each.tolist() for each in (self.table_starts, firsts, questions)), strict=True)
            )
        )


def _middle(questions: Vectors) -> Vectors:
    """Their unit vector, (d,); 0 of none."""
    total: Vectors = questions.sum(axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-6)


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
