"""A question and a schema as an encoder's input, in windows, and what a model that links them shows of itself.

Owns the words, features and relations of nodes, and the Protocol of the model. The ids of tokens come from the caller;
the network is `engine.models.linker_network`'s matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.question.names import name_words
from engine.question.question import Question
from engine.question.tokens import STOP_WORDS
from engine.values.elements import WHOLE_TABLE
from engine.values.schema_graph import EdgeKind, Graph
from schema_catalog.types import Column, ColumnKey, Snapshot, Table
from schema_catalog.words import identifier_words

WINDOW = 512
"""Tokens that the encoder takes at once."""

QUESTION_TOKENS = 96
"""Longer questions are truncated."""

NOTHING, ASKED = -1, -2
"""Of a window's tokens: those that belong to no node, and the question's."""

FEATURES = (
    "table", "number", "text", "time", "other", "primary key", "foreign key", "one of several with its name",
    "all words asked", "words asked", "words asked by their stems", "asked as a phrase", "words of the table asked",
)  # fmt: skip
"""Of a node, each in [0, 1]; those from `LEXICAL` on compare its words with the question's."""

LEXICAL = FEATURES.index("all words asked")

_STEM = 5
"""Letters of a word that stand for its stem."""

_NUMBER = ("int", "numeric", "decimal", "real", "double", "float", "serial", "money")
_TEXT = ("char", "text", "name", "uuid", "json", "xml")
_TIME = ("date", "time", "interval")
"""What a type of the kind has in its name."""


class NodeRelation(IntEnum):
    """The relation of one node to another; after `EDGES`, one for each `EdgeKind` between two tables."""

    NONE = 0
    SELF = 1
    TABLE_OF = 2
    """The second is the table of the first."""
    COLUMN_OF = 3
    SIBLING = 4
    """Columns of one table."""
    JOINED = 5
    """Columns that join their tables."""
    JOINS = 6
    """The first is a column that joins its table to the second, a table."""
    EDGES = 7


RELATIONS = NodeRelation.EDGES + len(EdgeKind)


@dataclass(frozen=True, slots=True)
class SchemaInput:
    """A question with a schema, n nodes.

    `asked`: the question's words, with whether each stands in a table's and in a column's name, (words, 2). `nodes`:
    each table followed by its columns. `texts`: their words. `features`: (n, len(FEATURES)). `relations`: (n, n) of
    `NodeRelation`. `table_of`: (n,), the node of each one's table. `joins`: (k, 2), columns with the tables' nodes
    that they join to.
    """

    words: tuple[str, ...]
    asked: NDArray[np.float32]
    nodes: tuple[ColumnKey, ...]
    texts: tuple[str, ...]
    features: NDArray[np.float32]
    relations: NDArray[np.uint8]
    table_of: NDArray[np.intp]
    joins: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens' ids, and for each the node that it belongs to, or `NOTHING`, or `ASKED`. `places`: its question word."""

    ids: tuple[int, ...]
    parts: tuple[int, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """Ids of the tokens that begin, end, and divide a window's parts."""

    start: int
    end: int
    columns: int
    """Between a table and its columns."""
    column: int
    """Between two columns."""


def schema_input(question: Question, snapshot: Snapshot) -> SchemaInput:
    """The input for one question; a snapshot without tables has no nodes."""
    nodes: list[ColumnKey] = []
    texts: list[str] = []
    table_of: list[int] = []
    for table in snapshot.tables:
        own = len(nodes)
        nodes.append((*table.key, WHOLE_TABLE))
        nodes += [(*table.key, column.name) for column in table.columns]
        texts += [
            name_words(name) or name for name in (table.name, *(column.name for column in table.columns))
        ]
        table_of += [own] * (1 + len(table.columns))
    numbers = {element: number for number, element in enumerate(nodes)}
    relations, joins = _relations(snapshot, numbers, np.array(table_of, dtype=np.intp))
    words = question.pieces
    return SchemaInput(
        words,
        _asked(words, snapshot),
        tuple(nodes),
        tuple(texts),
        _features(question, snapshot, texts),
        relations,
        np.array(table_of, dtype=np.intp),
        joins,
    )


def windows(
    question: Sequence[Sequence[int]], nodes: Sequence[Sequence[int]], table_of: Sequence[int], marks: Marks
) -> list[Window]:
    """Windows of at most `WINDOW` tokens, which together hold every node once.

    `question`, `nodes`: the tokens of each word, and of each node. The question begins every window. A table that
    does not fit is continued in the next, where its name stands again and belongs to no node.
    """
    asked = [(token, place) for place, word in enumerate(question) for token in word][:QUESTION_TOKENS]
    found: list[Window] = []
    current = _Writer(asked, marks)
    for node, tokens in enumerate(nodes):
        table = nodes[table_of[node]][: WINDOW // 8]
        kept = tokens[: WINDOW // 8]
        if current.length + len(table) + len(kept) + 2 > WINDOW:
            found.append(current.window())
            current = _Writer(asked, marks)
        current.add(node, kept, table_of[node], table)
    return [*found, current.window()]


class _Writer:
    def __init__(self, asked: Sequence[tuple[int, int]], marks: Marks) -> None:
        self._marks = marks
        self._ids = [marks.start, *(token for token, _ in asked), marks.end]
        self._parts = [NOTHING, *([ASKED] * len(asked)), NOTHING]
        self._places = [NOTHING, *(place for _, place in asked), NOTHING]
        self._table = NOTHING

    @property
    def length(self) -> int:
        return len(self._ids)

    def add(self, node: int, tokens: Sequence[int], table: int, name: Sequence[int]) -> None:
        if node == table:
            if self._table != NOTHING:
                self._put([self._marks.end], NOTHING)
        elif table != self._table:
            self._put([*name, self._marks.columns], NOTHING)
        else:
            first = self._parts[-1] == table
            self._put([self._marks.columns if first else self._marks.column], NOTHING)
        self._put(tokens, node)
        self._table = table

    def window(self) -> Window:
        self._put([self._marks.end], NOTHING)
        return Window(tuple(self._ids), tuple(self._parts), tuple(self._places))

    def _put(self, tokens: Sequence[int], part: int) -> None:
        self._ids += tokens
        self._parts += [part] * len(tokens)
        self._places += [NOTHING] * len(tokens)


def _relations(
    snapshot: Snapshot, numbers: dict[ColumnKey, int], table_of: NDArray[np.intp]
) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    found = np.where(table_of[:, None] == table_of[None, :], NodeRelation.SIBLING, NodeRelation.NONE)
    found = found.astype(np.uint8)
    every = np.arange(len(table_of))
    found[every, table_of] = NodeRelation.TABLE_OF
    found[table_of, every] = NodeRelation.COLUMN_OF
    found[every, every] = NodeRelation.SELF
    joins: set[tuple[int, int]] = set()
    for table, edges in zip(snapshot.tables, Graph.of(snapshot).edges, strict=True):
        own = numbers[*table.key, WHOLE_TABLE]
        for edge in edges:
            other = snapshot.tables[edge.table]
            target = numbers[*other.key, WHOLE_TABLE]
            found[own, target] = NodeRelation.EDGES + edge.kind
            for name, other_name in zip(edge.columns, edge.other_columns, strict=True):
                column = numbers[*table.key, name]
                found[column, numbers[*other.key, other_name]] = NodeRelation.JOINED
                found[column, target] = NodeRelation.JOINS
                joins.add((column, target))
    return found, np.array(sorted(joins), dtype=np.intp).reshape(-1, 2)


def _asked(words: Sequence[str], snapshot: Snapshot) -> NDArray[np.float32]:
    tables = {word for table in snapshot.tables for name in _names(table) for word in identifier_words(name)}
    columns = {
        word for _, each in snapshot.columns() for name in _names(each) for word in identifier_words(name)
    }
    folded = [set(identifier_words(word)).difference(STOP_WORDS) for word in words]
    found = [(bool(each & tables), bool(each & columns)) for each in folded]
    return np.array(found, dtype=np.float32).reshape(-1, 2)


def _features(question: Question, snapshot: Snapshot, texts: Sequence[str]) -> NDArray[np.float32]:
    asked = _Asked(question)
    repeated = Counter(texts)
    rows: list[tuple[float, ...]] = []
    for table in snapshot.tables:
        whole = asked.compared(table)
        rows.append((1, 0, 0, 0, 0, 0, 0, 0, *whole, whole[1]))
        referring = {name for key in table.foreign_keys for name in key.columns}
        for column in table.columns:
            known = (column.name in table.primary_key, column.name in referring)
            several = repeated[texts[len(rows)]] > 1
            rows.append((0, *_kind(column), *known, several, *asked.compared(column), whole[1]))
    return np.array(rows, dtype=np.float32).reshape(-1, len(FEATURES))


def _names(element: Table | Column) -> tuple[str, ...]:
    return (element.name, *element.synonyms)


def _kind(column: Column) -> tuple[bool, bool, bool, bool]:
    bare = column.type.split("(", 1)[0].casefold()
    time = any(each in bare for each in _TIME)
    number = not time and any(each in bare for each in _NUMBER)
    text = not time and not number and any(each in bare for each in _TEXT)
    return number, text, time, not (number or text or time)


class _Asked:
    def __init__(self, question: Question) -> None:
        self._words = frozenset(question.content_words)
        self._stems = frozenset(word[:_STEM] for word in self._words)
        self._phrase = f" {' '.join(question.words)} "

    def compared(self, element: Table | Column) -> tuple[float, float, float, float]:
        """Of the words of the name, or of the synonym asked most: all asked, their share, by stems, in a row."""
        return max(map(self._compared, _names(element)))

    def _compared(self, name: str) -> tuple[float, float, float, float]:
        words = [word for word in identifier_words(name) if word not in STOP_WORDS]
        if not words:
            return 0.0, 0.0, 0.0, 0.0
        share = sum(word in self._words for word in words) / len(words)
        stems = sum(word[:_STEM] in self._stems for word in words) / len(words)
        return float(share == 1.0), share, stems, float(f" {' '.join(words)} " in self._phrase)


@dataclass(frozen=True, slots=True)
class NodeStates:
    """What the model makes of a question's schema. A node is a column, or with the column `*` a table as a whole.

    `nodes`: each table of the snapshot, in its order, followed by its columns. `log_odds`: (n,), that a statement which
    answers reads the node; of a column, given its table. `answerable` in [0, 1]: that the schema holds what is asked
    for.
    """

    nodes: tuple[ColumnKey, ...]
    log_odds: NDArray[np.float32] = field(repr=False)
    answerable: float


class HiddenStates(Protocol):
    """A model that reads a question over a schema. Blocks: call it in a thread."""

    def read(self, question: Question, snapshot: Snapshot) -> NodeStates | None:
        """The states of all of `snapshot`; None where it is too large for the model."""
