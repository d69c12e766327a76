"""Which table or column of a question is made ambiguous, and the question as AmbiQT's files hold it.

Owns the kinds of ambiguity, the choice of the element, which the question has words for, and the lines of the
file. The names come from `training.renaming`, schemas and golds from `training.variants`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.harness.drawing import Item, digest
from engine.text.tokens import OPERATION_WORDS, STOP_WORDS, identifier_words, question_words
from schema_catalog.types import Snapshot, Table
from training.renaming import Renamer
from training.variants import Variants, View, creation, own_name, own_table, two_columns, two_tables


class Kind(StrEnum):
    """AmbiQT's kinds of ambiguity, by its letters; the scarcest first, which then has its choice of questions."""

    TABLE = "T"
    COLUMN = "C"
    JOIN = "J"


@dataclass(frozen=True, slots=True)
class Element:
    """A table that a gold reads, or a column of it that belongs to no key."""

    table: Table
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A question made ambiguous. `names`: the element's two, none where the column got a table of its own."""

    kind: Kind
    item: Item
    element: Element
    names: tuple[str, ...]
    variants: Variants

    @property
    def id(self) -> str:
        """It ends with the number of the training question."""
        return f"ambiguous-{self.kind}-{self.item['id'].rsplit('-', 1)[1]}"

    def line(self) -> dict[str, object]:
        """The object that the file holds."""
        made = {"table": self.element.table.name, "column": self.element.column, "names": self.names}
        return {
            "id": self.id,
            "kind": self.kind,
            "db": self.item["db"],
            "question": self.item["question"],
            "ambiguous": {key: value for key, value in made.items() if value},
            "ddl_both": creation(self.variants.both),
            "ddl_1": creation(self.variants.first),
            "ddl_2": creation(self.variants.second),
            "gold_base": self.item["gold"],
            "gold_1": self.variants.gold_1,
            "gold_2": self.variants.gold_2,
            "ordered": self.item["ordered"],
            "gold_rows": self.item["gold_rows"],
            "discriminating": True,
            "same_on_both": True,
            "schema_both": [_described(view) for view in self.variants.both],
        }


def _described(view: View) -> dict[str, object]:
    table = view.table
    return {
        "table": table.name,
        "columns": [{"name": column.name, "type": column.type} for column in table.columns],
        "primary_key": list(table.primary_key),
        "foreign_keys": [
            {"column": column, "ref_table": key.ref_table, "ref_column": other}
            for key in table.foreign_keys
            for column, other in zip(key.columns, key.ref_columns, strict=True)
        ],
    }


class Author:
    """Makes questions ambiguous. Takes elements that it took less often first, then those that `seed` decides."""

    def __init__(self, schemas: dict[str, Snapshot], renamer: Renamer, seed: int) -> None:
        self._schemas = schemas
        self._renamer = renamer
        self._seed = seed
        self._used: Counter[Element] = Counter()

    def made(self, kind: Kind, items: Sequence[Item]) -> Iterator[Ambiguous]:
        """Each question that reads an element which can be made ambiguous; none was run yet."""
        for item in items:
            snapshot = self._schemas[item["db"]]
            for element in self._elements(kind, item, snapshot):
                one = self._ambiguous(kind, item, snapshot, element)
                if one is not None:
                    self._used[element] += 1
                    yield one
                    break

    def _elements(self, kind: Kind, item: Item, snapshot: Snapshot) -> list[Element]:
        found = [
            Element(table, column)
            for table in snapshot.tables
            if table.name in item["tables"]
            for column in ([None] if kind is Kind.TABLE else _plain_columns(table, snapshot))
            if column is None or f"{table.name}.{column}" in (item["columns"] or ())
        ]
        told = set(question_words(item["question"])) - OPERATION_WORDS
        named = [each for each in found if told.issuperset(_telling(each.column or each.table.name))]
        return sorted(named, key=lambda each: (self._used[each], self._hashed(item, each)))

    def _ambiguous(self, kind: Kind, item: Item, snapshot: Snapshot, element: Element) -> Ambiguous | None:
        table, column, gold = element.table, element.column, item["gold"]
        tables = {each.name for each in snapshot.tables}
        if kind is Kind.JOIN and column is not None:
            if not table.primary_key or own_name(table, column) in tables:
                return None
            return Ambiguous(kind, item, element, (), own_table(snapshot, gold, table, column))
        name, context = (table.name, "table") if column is None else (column, table.name)
        taken = tables | {each.name for each in table.columns}
        names = self._renamer.pair(name, context, item["question"], taken)
        if names is None:
            return None
        if column is None:
            return Ambiguous(kind, item, element, names, two_tables(snapshot, gold, table, names))
        return Ambiguous(kind, item, element, names, two_columns(snapshot, gold, table, column, names))

    def _hashed(self, item: Item, element: Element) -> int:
        return digest(f"{self._seed}:{item['id']}:{element.table.name}:{element.column}")


def _telling(name: str) -> set[str]:
    """The words of a name that a question about it has."""
    return set(identifier_words(name)) - STOP_WORDS


def _plain_columns(table: Table, snapshot: Snapshot) -> list[str]:
    """The columns that belong to no key, that no key leads to, and that are no undeclared key by their names."""
    keys = {*table.primary_key, *(column for key in table.foreign_keys for column in key.columns)}
    for other in snapshot.tables:
        for key in other.foreign_keys:
            if (key.ref_schema, key.ref_table) == table.key:
                keys.update(key.ref_columns)
    return [
        column.name
        for column in table.columns
        if column.name not in keys and identifier_words(column.name)[-1:] != ("id",)
    ]
