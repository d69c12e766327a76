"""Questions made of schemas, to train the router on: templates filled with the names of walked tables (DBCopilot §4.3).

The templates' file holds one a line, below its relation in brackets:

    [refers]
    What is the average {number0} of the {t0s} for each {t1}?

`{t0}` is a table in the singular, `{t0s}` in the plural. `{number0}` is a column of table 0 of kind number, `{c0}` one
of any kind but key; with `b` another such column, with `s` in the plural. `{n}` and the larger `{m}` are numbers,
`{year}` is a year.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from engine.linking.element_text import name_words
from engine.routing.graph import Edge, EdgeKind, Graph
from engine.routing.index import SchemaIndexEntry
from schema_catalog.join_names import GENERIC
from schema_catalog.types import Column, Snapshot, Table
from schema_catalog.words import identifier_words, plural
from training.router_batches import Example

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
    """The templates in `question_templates.txt`."""
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


LENGTHS = (0.5, 0.36, 0.11, 0.03)
"""Share of walks over one, two, three and four tables: about what people ask, a little longer."""

_APPEAL = {
    EdgeKind.FOREIGN_PRIMARY: 1.0,
    EdgeKind.PRIMARY_FOREIGN: 1.0,
    EdgeKind.FOREIGN_FOREIGN: 0.3,
    EdgeKind.IMPLIED: 0.4,
}
"""The weight of an edge in the random choice."""


Walk = tuple[int, ...]
"""Tables by number, each once and linked to one before it."""


def walks(snapshot: Snapshot, graph: Graph, rng: np.random.Generator) -> Iterator[Walk]:
    """Walks without end: each table is the start of one before any is the start of a second. Empty without tables."""
    starts = rng.permutation(len(graph)).tolist()
    yield from (walk(snapshot, graph, start, rng) for start in cycle(starts))


def walk(snapshot: Snapshot, graph: Graph, start: int, rng: np.random.Generator) -> Walk:
    """One walk from `start`. A table of nothing but keys never ends one where it can go on."""
    wanted = 1 + int(rng.choice(len(LENGTHS), p=LENGTHS))
    tables = [start]
    while len(tables) < wanted or (is_link(snapshot.tables[tables[-1]]) and len(tables) < len(LENGTHS)):
        step = _step(graph, tables, rng)
        if step is None:
            break
        tables.append(step)
    return tuple(tables)


def _step(graph: Graph, tables: Sequence[int], rng: np.random.Generator) -> int | None:
    for source in reversed(tables):
        edges: list[Edge] = [edge for edge in graph.edges[source] if edge.table not in tables]
        if edges:
            appeal = np.array([_APPEAL[edge.kind] for edge in edges])
            return edges[int(rng.choice(len(edges), p=appeal / appeal.sum()))].table
    return None


def _key_columns(table: Table) -> frozenset[str]:
    types = {column.name: column.type for column in table.columns}
    own = [name for name in table.primary_key if types.get(name) in ("integer", "bigint", "uuid")]
    return frozenset(own).union(*(key.columns for key in table.foreign_keys))


def is_link(table: Table) -> bool:
    """Whether a table holds nothing but keys and refers to others with several."""
    return len(table.foreign_keys) > 1 and len(_key_columns(table)) == len(table.columns)


_PAIR = 2
"""Tables that a template names at most."""

WALKS, TRIES = 24, 12
"""Walks for a database, each filled up to `TRIES` times until there is a new question."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question and the tables that answer it, by number in the snapshot."""

    question: str
    tables: tuple[int, ...]


def made_questions(
    snapshot: Snapshot, graph: Graph, templates: Sequence[Template], *, count: int = WALKS, seed: int = 1
) -> list[MadeQuestion]:
    """Questions about a schema, each once."""
    of: dict[Relation, list[Template]] = defaultdict(list)
    for template in templates:
        of[template.relation].append(template)
    rng = np.random.default_rng(seed)
    found: dict[str, MadeQuestion] = {}
    for one in islice(walks(snapshot, graph, rng), count):
        fillings = _fillings(snapshot, graph, one, of, rng)
        made = next((filling for filling in fillings if filling.question not in found), None)
        if made is not None:
            found[made.question] = made
    return list(found.values())


def _fillings(
    snapshot: Snapshot,
    graph: Graph,
    walk: Walk,
    templates: Mapping[Relation, Sequence[Template]],
    rng: np.random.Generator,
) -> Iterator[MadeQuestion]:
    named, between = _named(walk, snapshot)
    for _ in range(TRIES):
        tables = [int(number) for number in rng.permutation(named)]
        linked: Relation | None = Relation.ALONE
        if len(tables) == _PAIR:
            linked = relation(graph, *tables, between=bool(between))
        if linked is None or linked not in templates:
            continue
        some = templates[linked]
        text = _filled(snapshot, some[int(rng.integers(len(some)))], tables, rng)
        if text is not None:
            yield MadeQuestion(text, (*tables, *between) if linked is Relation.ACROSS else tuple(tables))


def lesson(parts: Sequence[SchemaIndexEntry]) -> list[Example]:
    """Questions about every database of a catalog."""
    return [
        Example(one.question, number, one.tables)
        for number, part in enumerate(parts)
        for one in made_questions(part.snapshot, part.graph, packaged())
    ]


def _named(walk: Walk, snapshot: Snapshot) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tables of a walk that a question names, two at most, and a table of nothing but keys between them."""
    first, *rest = walk
    if len(rest) >= _PAIR and is_link(snapshot.tables[rest[0]]):
        return (first, rest[1]), (rest[0],)
    return (first, *rest[:1]), ()


def _filled(
    snapshot: Snapshot, template: Template, tables: Sequence[int], rng: np.random.Generator
) -> str | None:
    """The template about these tables; None where a column of a kind is missing or a name has no words."""
    slots = {f"t{n}": name_words(snapshot.tables[table].name) for n, table in enumerate(tables)}
    if not all(map(identifier_words, slots.values())):
        return None
    values = {name: singular(words) for name, words in slots.items()}
    columns: dict[str, str] = {}
    for slot in template.columns:
        named = f"{{t{slot.table}" in template.text
        fitting = _columns(snapshot.tables[tables[slot.table]], slot, named=named)
        left = [words for words in fitting if words not in columns.values()]
        if not left:
            return None
        columns[slot.name] = left[int(rng.integers(len(left)))]
    values |= columns | {f"{name}s": in_plural(words) for name, words in (slots | columns).items()}
    low = int(rng.integers(2, 100))
    return template.text.format(
        **values, n=low, m=low + int(rng.integers(1, 100)), year=int(rng.integers(1980, 2030))
    )


def _columns(table: Table, slot: ColumnSlot, *, named: bool) -> list[str]:
    """The words of a table's columns that fit a slot, but foreign keys; not `named`: whole names, none generic."""
    pointing = {name for key in table.foreign_keys for name in key.columns}
    fitting = [column for column in table.columns if slot.fits(column) and column.name not in pointing]
    spoken = [spoken_column(table, column) if named else name_words(column.name) for column in fitting]
    return [words for words in spoken if identifier_words(words) and (named or words not in GENERIC)]
