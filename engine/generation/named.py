"""What a question calls by name, tables and values, and whether a statement speaks of it.

Owns when a word is a name. Of Spider's training questions 96 % are answered by statements that read each table so
named, or one that refers to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.routing.words import identifier_words
from engine.state import Relation, TableKey, ValueLink
from schema_catalog.types import Snapshot, Table

CERTAIN = 0.97
"""Similarity of a value that is the question's own, but for how it is written."""


def named(question: str, snapshot: Snapshot) -> list[Table]:
    """The tables whose names are in `question`, number aside.

    A name that is part of a longer one of the schema, or ends a column's, is not taken for a table's: a "country" may
    be a column of cities.
    """
    columns = {identifier_words(column.name) for _, column in snapshot.columns()}
    names = columns | {identifier_words(table.name) for table in snapshot.tables}
    endings = {column[-1] for column in columns if column}
    asked = identifier_words(question)
    return [
        table
        for table in snapshot.tables
        if (name := identifier_words(table.name))
        and name[-1] not in endings
        and _stands_alone(name, asked, names)
    ]


def unread(question: str, tables: Iterable[TableKey], snapshot: Snapshot) -> list[Table]:
    """Those of which a statement over `tables` reads nothing, not even what refers to them."""
    read = frozenset(tables)
    known = [table for table in snapshot.tables if table.key in read]
    covered = read | {(key.ref_schema, key.ref_table) for table in known for key in table.foreign_keys}
    return [table for table in named(question, snapshot) if table.key not in covered]


def _stands_alone(name: Sequence[str], asked: Sequence[str], names: Iterable[Sequence[str]]) -> bool:
    """Whether `name` is somewhere in `asked` and not as a part of a longer one of `names`."""
    inside = {
        place + at
        for longer in names
        if len(longer) > len(name)
        for at in _places(name, longer)
        for place in _places(longer, asked)
    }
    return any(place not in inside for place in _places(name, asked))


def _places(part: Sequence[str], whole: Sequence[str]) -> list[int]:
    return [n for n in range(len(whole) - len(part) + 1) if tuple(whole[n : n + len(part)]) == tuple(part)]


def unused(question: str, sql: str, links: Iterable[ValueLink]) -> list[str]:
    """The values that `question` calls by name and `sql` compares nothing with, as the question has them.

    A name begins with a capital letter, but for the question's first word, and stands in the database as it is.
    """
    spelt: dict[str, set[str]] = {}
    for link in links:
        begins = question.find(link.span) if link.span[:1].isupper() else 0
        if begins > 0 and link.relation is Relation.EQUALS and link.similarity >= CERTAIN:
            spelt.setdefault(link.span, {link.span.casefold()}).update(map(str.casefold, link.values))
    said = sql.casefold()
    return [span for span, values in spelt.items() if not any(value in said for value in values)]
