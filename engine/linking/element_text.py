"""The names of schema elements as words, and the cosines of a question's phrases to them.

Similarity is the encoder's cosine, table included: `address` of `student_registration` can stand for a student's
address and that of `teacher` can not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine.core.elements import WHOLE_TABLE, Entity
from engine.core.ports import Encoder
from engine.learning.phrase_adapter import PhraseAdapter
from schema_catalog.types import Column, ColumnKey, Snapshot, Table


def linked(
    texts: Sequence[str], snapshot: Snapshot, encoder: Encoder, adapter: PhraseAdapter | None = None
) -> tuple[Entity, ...]:
    """Phrases with their cosines to the elements of a schema; `adapter` is applied to the phrases' vectors first."""
    return compared(texts, element_words(snapshot), encoder, adapter)


def compared(
    texts: Sequence[str],
    elements: Mapping[ColumnKey, str],
    encoder: Encoder,
    adapter: PhraseAdapter | None = None,
) -> tuple[Entity, ...]:
    """Phrases with their cosines to elements, which are given as texts; none where either is empty."""
    if not texts or not elements:
        return ()
    vectors = encoder.encode([*texts, *elements.values()])
    phrases = vectors[: len(texts)] if adapter is None else adapter.applied(vectors[: len(texts)])
    cosines = phrases @ vectors[len(texts) :].T
    return tuple(
        Entity(text, {key: float(value) for key, value in zip(elements, row, strict=True)})
        for text, row in zip(texts, cosines, strict=True)
    )


def element_words(snapshot: Snapshot) -> dict[ColumnKey, str]:
    """Columns, and tables as a whole, in words."""
    words: dict[ColumnKey, str] = {}
    for table in snapshot.tables:
        words[*table.key, WHOLE_TABLE] = name_words(table.name)
        for column in table.columns:
            words[*table.key, column.name] = qualified_words(table, column)
    return words


def qualified_words(table: Table, column: Column) -> str:
    """A column's name behind its table's, as lower-case words."""
    return f"{name_words(table.name)} {name_words(column.name)}"


def name_words(name: str) -> str:
    """A name of the schema as lower-case words: `OrderItems` and `order_items` are `order items`."""
    return re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower().strip()
