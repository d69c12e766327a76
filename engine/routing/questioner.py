"""Questions about a schema: templates filled with the names of walked tables.

The reverse of routing (DBCopilot §4.3), a thousand a second, without a language model. Owns what fills a slot. The
questions depend on the schema alone, and every database gets as many: what several databases could answer stays in,
since how often each is asked it is what a router has to learn of them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.linking.element_text import name_words
from engine.routing.graph import GENERIC, Graph
from engine.routing.question_templates import (
    ColumnSlot,
    Relation,
    Template,
    in_plural,
    relation,
    singular,
    spoken_column,
)
from engine.routing.schema_index_entry import SchemaIndexEntry
from engine.routing.training import Example
from engine.routing.walks import Walk, is_link, walks
from engine.text.tokens import identifier_words
from schema_catalog.types import Snapshot, Table

MOST = 10_000
"""Questions made for a whole catalog, at most."""

_PAIR = 2
"""Tables that a template names at most."""


@dataclass(frozen=True, slots=True)
class QuestionerSettings:
    """Walks for a database, each filled up to `tries` times until there is a new question."""

    walks: int = 24
    tries: int = 12
    seed: int = 1


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question and the tables that answer it, by number in the snapshot."""

    question: str
    tables: tuple[int, ...]


class Questioner:
    """Makes questions out of `templates`."""

    def __init__(self, templates: Sequence[Template], settings: QuestionerSettings | None = None) -> None:
        self._settings = settings or QuestionerSettings()
        groups: dict[Relation, list[Template]] = defaultdict(list)
        for template in templates:
            groups[template.relation].append(template)
        self._templates = dict(groups)

    def about(self, snapshot: Snapshot, graph: Graph) -> list[MadeQuestion]:
        """Questions about a schema, each once."""
        entropy = _entropy(snapshot, self._settings.seed)
        endless = walks(snapshot, graph, self._settings.seed)
        found: dict[str, MadeQuestion] = {}
        for number, walk in zip(range(self._settings.walks), endless, strict=False):
            fillings = self._fillings(snapshot, graph, walk, np.random.default_rng([entropy, number]))
            made = next((one for one in fillings if one.question not in found), None)
            if made is not None:
                found[made.question] = made
        return list(found.values())

    def _fillings(
        self, snapshot: Snapshot, graph: Graph, walk: Walk, rng: np.random.Generator
    ) -> Iterator[MadeQuestion]:
        """Fillings of templates that fit the walk."""
        named, between = _named(walk, snapshot)
        for _ in range(self._settings.tries):
            tables = [int(number) for number in rng.permutation(named)]
            linked: Relation | None = Relation.ALONE
            if len(tables) == _PAIR:
                linked = relation(graph, *tables, between=bool(between))
            if linked is None or linked not in self._templates:
                continue
            some = self._templates[linked]
            text = _filled(snapshot, some[int(rng.integers(len(some)))], tables, rng)
            if text is not None:
                yield MadeQuestion(text, (*tables, *between) if linked is Relation.ACROSS else tuple(tables))


def lesson(parts: Sequence[SchemaIndexEntry], templates: Sequence[Template]) -> list[Example]:
    """Questions about every database of a catalog, as many of each."""
    settings = QuestionerSettings()
    walks_each = min(settings.walks, max(1, MOST // max(1, len(parts))))
    questioner = Questioner(templates, replace(settings, walks=walks_each))
    return [
        Example(one.question, number, one.tables)
        for number, part in enumerate(parts)
        for one in questioner.about(part.snapshot, part.graph)
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
    """The words of a table's columns that fit a slot, but those of foreign keys.

    Where the question does not name the table, whole names, and none that any table could have.
    """
    pointing = {name for key in table.foreign_keys for name in key.columns}
    fitting = [column for column in table.columns if slot.fits(column) and column.name not in pointing]
    spoken = [spoken_column(table, column) if named else name_words(column.name) for column in fitting]
    return [words for words in spoken if identifier_words(words) and (named or words not in GENERIC)]


def _entropy(snapshot: Snapshot, seed: int) -> int:
    digest = hashlib.sha256(repr((seed, snapshot.fingerprint)).encode()).digest()
    return int.from_bytes(digest[:16], "big")
