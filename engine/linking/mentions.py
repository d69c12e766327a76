"""What a question calls by name, tables and values, and whether a statement speaks of it.

Owns when a word is a name. Of Spider's training questions 96 % are answered by statements that read each table so
named, or one that refers to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from engine.core.elements import Relation, ValueLink
from engine.text.tokens import identifier_words
from schema_catalog.types import Snapshot, Table, TableKey

Words = tuple[str, ...]
"""The folded words of a name."""

CERTAIN = 0.97
"""Similarity of a value that is the question's own, but for how it is written."""


def mentioned_tables(question: str, snapshot: Snapshot) -> tuple[Table, ...]:
    """The tables whose names are in `question`, number aside. Reads every name of the schema: once for a question.

    A name that is part of a longer one of the schema, or ends a column's, is not taken for a table's: a "country" may
    be a column of cities.
    """
    columns = {identifier_words(column.name) for _, column in snapshot.columns()}
    tables = [(table, identifier_words(table.name)) for table in snapshot.tables]
    endings = {column[-1] for column in columns if column}
    alone = _standing_alone(identifier_words(question), columns | {name for _, name in tables})
    return tuple(table for table, name in tables if name in alone and name[-1] not in endings)


def tables_not_read(asked: Iterable[Table], tables: Iterable[TableKey], snapshot: Snapshot) -> list[Table]:
    """Those of `asked` of which a statement over `tables` reads nothing, not even what refers to them."""
    read = frozenset(tables)
    known = [table for table in snapshot.tables if table.key in read]
    covered = read | {(key.ref_schema, key.ref_table) for table in known for key in table.foreign_keys}
    return [table for table in asked if table.key not in covered]


def _standing_alone(asked: Words, names: Collection[Words]) -> frozenset[Words]:
    """Those of `names` that are somewhere in `asked` and not there within a longer one."""
    longest = max(map(len, names), default=0)
    spans = [
        (start, end)
        for start in range(len(asked))
        for end in range(start + 1, min(start + longest, len(asked)) + 1)
        if asked[start:end] in names
    ]
    return frozenset(
        asked[start:end]
        for start, end in spans
        if not any(s <= start and end <= e and e - s > end - start for s, e in spans)
    )


def values_not_used(question: str, sql: str, links: Iterable[ValueLink]) -> list[str]:
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
