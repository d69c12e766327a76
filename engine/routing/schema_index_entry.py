"""One database's schema, as one asker may see it, as vectors and words.

Owns the texts that are encoded. Built from a restricted snapshot: nothing unreadable influences a score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from engine.routing.graph import Graph
from engine.text.tokens import folded_name, identifier_words
from schema_catalog.types import Column, Snapshot, Table

Vectors = NDArray[np.float32]

NAMED = 1.0
"""Weight of a question's word in a table's name."""

MENTIONED = 0.8
"""Weight of a question's word in a column's name, a comment or a term."""


@dataclass(frozen=True, slots=True)
class SchemaIndexEntry:
    """The arrays of one database: T tables, C columns, synonyms and terms, d dimensions.

    `whole`: (d,), the database by its name and its tables' names. `tables`: (T, d), each by its name and its
    columns'. `columns`: (C, d), each with its table's name; `starts`: (T,), where each table's columns begin.
    `words`: word → (tables that hold it, their weights). `graph`: made here, so that no question waits for it.
    """

    snapshot: Snapshot
    whole: Vectors
    tables: Vectors
    columns: Vectors
    starts: NDArray[np.intp]
    words: dict[str, tuple[NDArray[np.intp], Vectors]]
    graph: Graph


def build(snapshot: Snapshot, encode: Callable[[Sequence[str]], Vectors]) -> SchemaIndexEntry:
    """The entry of a snapshot with at least one column; `encode` is called once."""
    tables = [_table_text(table) for table in snapshot.tables]
    columns = [[*_column_texts(table), *_terms(snapshot, table)] for table in snapshot.tables]
    vectors = encode([_database_text(snapshot), *tables, *chain.from_iterable(columns)])
    sizes = list(map(len, columns))
    return SchemaIndexEntry(
        snapshot=snapshot,
        whole=vectors[0],
        tables=vectors[1 : 1 + len(tables)],
        columns=vectors[1 + len(tables) :],
        starts=np.cumsum([0, *sizes[:-1]], dtype=np.intp),
        words=_words(snapshot),
        graph=Graph.of(snapshot),
    )


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


def _terms(snapshot: Snapshot, table: Table) -> list[str]:
    """The terms of the business that are about a table."""
    return [term.name for term in snapshot.terms if any(element[:2] == table.key for element in term.reads)]


def _column_text(table: str, column: Column) -> str:
    text = f"{table} {folded_name(column.name)}"
    return f"{text}: {column.description}" if column.description else text


def _words(snapshot: Snapshot) -> dict[str, tuple[NDArray[np.intp], Vectors]]:
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for number, table in enumerate(snapshot.tables):
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
