"""Schemas in words of another register: about half of the words of their names are replaced by WordNet's neighbours.

Owns which words are replaced. A word is replaced wherever it stands in a database, by one of the pairs that no training
question may use (`training.paraphrases`), so that no router knows them by heart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from engine.text.tokens import identifier_words
from schema_catalog.types import ForeignKey, Snapshot, Table
from training.paraphrases import share

REPLACED = 0.85
"""Of the words that have a neighbour: half of all words, about."""

_WORD = re.compile(r"[^\W\d_]{3,}")


def renamed(snapshot: Snapshot, instead: Callable[[str, str, str], str]) -> Snapshot:
    """The schema with its tables and columns, and what refers to them, named otherwise.

    `instead`: a word as it is written, folded, and the database's name → what stands for it (`Paraphraser.instead`).
    """

    def other(match: re.Match[str]) -> str:
        words = identifier_words(match[0])
        if len(words) != 1 or share("renamed", snapshot.database, words[0]) >= REPLACED:
            return match[0]
        return instead(match[0], words[0], snapshot.database).replace(" ", "_")

    def change(name: str) -> str:
        return _WORD.sub(other, name)

    tables = _names((table.name for table in snapshot.tables), change)
    columns = {table.name: _names((one.name for one in table.columns), change) for table in snapshot.tables}
    return replace(snapshot, tables=tuple(_with(table, tables, columns) for table in snapshot.tables))


def _with(table: Table, tables: dict[str, str], columns: dict[str, dict[str, str]]) -> Table:
    """A table by its new names; `columns`: of each table, by its old name."""
    own = columns[table.name]

    def key(one: ForeignKey) -> ForeignKey:
        there = columns[one.ref_table]
        return replace(
            one,
            columns=tuple(own[name] for name in one.columns),
            ref_table=tables[one.ref_table],
            ref_columns=tuple(there[name] for name in one.ref_columns),
        )

    return replace(
        table,
        name=tables[table.name],
        columns=tuple(replace(one, name=own[one.name]) for one in table.columns),
        primary_key=tuple(own[name] for name in table.primary_key),
        foreign_keys=tuple(key(one) for one in table.foreign_keys),
    )


def _names(names: Iterable[str], change: Callable[[str], str]) -> dict[str, str]:
    """Each name with its new one; the old one stays where the new one is taken."""
    old = list(names)
    found: dict[str, str] = {}
    for name in old:
        new = change(name)
        found[name] = name if new in old or new in found.values() else new
    return found
