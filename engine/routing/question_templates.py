"""Templates of questions: sentences with slots for the tables and columns that they name.

Owns the file's format, the kinds of columns, and how a name of the schema is spoken; filling templates is
`engine.routing.questioner`'s. The file holds one template a line, below its relation in brackets:

    [refers]
    What is the average {number0} of the {t0s} for each {t1}?

`{t0}` is a table in the singular, `{t0s}` in the plural. `{number0}` is a column of table 0 of kind number, `{c0}` one
of any kind but key; with `b` another such column, with `s` in the plural. `{n}` and the larger `{m}` are numbers,
`{year}` is a year.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from engine.linking.element_text import name_words
from engine.routing.graph import EdgeKind, Graph
from engine.text.tokens import identifier_words, plural
from schema_catalog.types import Column, Table

_FILE = Path(__file__).with_name("question_templates.txt")
_SLOT = re.compile(r"\{((c|key|date|number|name|text)([01])b?)s?\}")
_KEYS = frozenset({"id", "code", "key"})
_DATES = frozenset({"date", "time", "year", "month", "day"})
_NAMES = frozenset({"name", "title"})


class ColumnKind(StrEnum):
    """What a column's name and type say about how people ask for it."""

    KEY = "key"
    DATE = "date"
    NUMBER = "number"
    NAME = "name"
    TEXT = "text"


class Relation(StrEnum):
    """How the first table of a template is linked to the second."""

    ALONE = "alone"
    """There is no second."""
    REFERS = "refers"
    """The first has a foreign key to the second."""
    REFERRED = "referred"
    """The second has a foreign key to the first."""
    ACROSS = "across"
    """By a third table that refers to both, or by names alone."""


@dataclass(frozen=True, slots=True)
class ColumnSlot:
    """A column of table slot number `table`; `kind` None: of any kind but key. `name`: as the text has it."""

    name: str
    table: int
    kind: ColumnKind | None

    def fits(self, column: Column) -> bool:
        """Whether the column is of the slot's kind."""
        kind = kind_of(column)
        return kind is not ColumnKind.KEY if self.kind is None else kind is self.kind


@dataclass(frozen=True, slots=True)
class Template:
    """A question with slots; `columns`: those for columns, each once, in the order of the text."""

    text: str
    relation: Relation
    columns: tuple[ColumnSlot, ...]

    @staticmethod
    def of(text: str, relation: Relation) -> Template:
        """The template with the slots that its text names."""
        named = dict.fromkeys(match.groups() for match in _SLOT.finditer(text))
        slots = (
            ColumnSlot(name, int(table), None if kind == "c" else ColumnKind(kind))
            for name, kind, table in named
        )
        return Template(text, relation, tuple(slots))


@cache
def packaged() -> tuple[Template, ...]:
    """The templates that come with the program."""
    found: list[Template] = []
    relation = Relation.ALONE
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            relation = Relation(line.strip("[]"))
        else:
            found.append(Template.of(line, relation))
    return tuple(found)


def kind_of(column: Column) -> ColumnKind:
    """The kind of a column; what is no number and no date counts as text."""
    last = (identifier_words(column.name) or ("",))[-1]
    bare = column.type.split("(", 1)[0]
    if last in _KEYS:
        return ColumnKind.KEY
    if last in _DATES or bare.startswith(("date", "time", "interval")):
        return ColumnKind.DATE
    if bare.startswith(("smallint", "int", "bigint", "numeric", "real", "double", "money")):
        return ColumnKind.NUMBER
    return ColumnKind.NAME if last in _NAMES else ColumnKind.TEXT


def spoken_column(table: Table, column: Column) -> str:
    """A column's name as words, without its table's where they stand before others."""
    words, before = name_words(column.name).split(), identifier_words(table.name)
    rest = words[len(before) :]
    return " ".join(rest if rest and identifier_words(" ".join(words[: len(before)])) == before else words)


def singular(words: str) -> str:
    """Words with the last in the singular."""
    *others, last = words.split()
    return " ".join([*others, *identifier_words(last)])


def in_plural(words: str) -> str:
    """Words with the last in the plural."""
    *others, last = words.split()
    return " ".join([*others, last if identifier_words(last) != (last,) else plural(last)])


def relation(graph: Graph, one: int, other: int, *, between: bool) -> Relation | None:
    """How table number `one` is linked to `other`; `between`: a third table may link them. None where nothing does."""
    edge = next((edge for edge in graph.edges[one] if edge.table == other), None)
    if edge is not None and edge.kind is EdgeKind.FOREIGN_PRIMARY:
        return Relation.REFERS
    if edge is not None and edge.kind is EdgeKind.PRIMARY_FOREIGN:
        return Relation.REFERRED
    return Relation.ACROSS if edge is not None or between else None
