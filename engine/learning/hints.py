"""From a choice to votes: which phrase of the question meant which column or table (Odin §7.1, algorithm 3).

Owns the schema linking of feedback. A phrase is mapped to the nearest of the elements that the chosen statement alone
reads, and to the nearest of those that a rejected one alone reads: the two are a pair of alternatives. Where tables
stand for each other, the pair is lifted from their columns to the tables: who means `artist` and not `performer` means
all of it. Each element is in one pair at most, with the phrase that is nearest to it and not to what both statements
read: in "names of singers" it is *names* that `artist_name` and `performer_name` of one table `singer` are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.core.elements import WHOLE_TABLE, Entity
from engine.core.ports import Encoder
from engine.learning.types import Element, Vote
from engine.sql.resolution import Resolution
from engine.text.tokens import identifier_words
from schema_catalog.types import Snapshot

NEAREST = 0.3
"""Cosine below which a phrase says nothing about a pair of elements."""

SHARED = 0.5
"""How much it weighs against a phrase that it is near to a table that both statements read."""

Elements = frozenset[Element]
_Pair = tuple[Element, Element]


def elements(resolution: Resolution) -> Elements:
    """The columns that a statement reads, and its tables as a whole."""
    return resolution.columns | {(*table, WHOLE_TABLE) for table in resolution.tables}


def phrases(texts: Sequence[str], snapshot: Snapshot, encoder: Encoder) -> tuple[Entity, ...]:
    """Phrases with their cosines to tables and to columns by their bare names.

    With the table's name, as for routing and masks, *name* is nearer to `singer` than to `performer_name` of it.
    """
    words = {(*table.key, WHOLE_TABLE): table.name for table in snapshot.tables}
    words |= {(*table.key, column.name): column.name for table, column in snapshot.columns()}
    if not texts or not words:
        return ()
    vectors = encoder.encode([*texts, *(" ".join(identifier_words(name)) or name for name in words.values())])
    cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
    return tuple(
        Entity(text, {key: float(value) for key, value in zip(words, row, strict=True)})
        for text, row in zip(texts, cosines, strict=True)
    )


def votes(
    entities: Sequence[Entity], chosen: Elements, rejected: Iterable[Elements], weight: float
) -> tuple[Vote, ...]:
    """The votes of one choice, each pair of elements once."""
    found: dict[_Pair, str] = {}
    for other in rejected:
        taken: set[Element] = set()
        for _, phrase, pair in sorted(_pairs(entities, chosen, other), key=lambda each: -each[0]):
            if not taken & set(pair):
                taken |= set(pair)
                found.setdefault(pair, phrase)
    return tuple(Vote(phrase, preferred, instead, weight) for (preferred, instead), phrase in found.items())


def _pairs(
    entities: Sequence[Entity], chosen: Elements, other: Elements
) -> Iterator[tuple[float, str, _Pair]]:
    """For each phrase the pair that it may be about, and how much it is about that and not what is shared."""
    for entity in entities:
        wanted, instead = _nearest(entity, chosen - other), _nearest(entity, other - chosen)
        if wanted is None or instead is None:
            continue
        pair = _lifted(wanted, instead, chosen, other)
        near = max(entity.similarities.get(element, -1.0) for element in pair)
        if near >= NEAREST:
            shared = _nearest(entity, frozenset(key for key in chosen & other if key[2] == WHOLE_TABLE))
            yield near - SHARED * (0.0 if shared is None else entity.similarities[shared]), entity.text, pair


def _lifted(wanted: Element, instead: Element, chosen: Elements, other: Elements) -> _Pair:
    tables = (*wanted[:2], WHOLE_TABLE), (*instead[:2], WHOLE_TABLE)
    alone = tables[0] not in other and tables[1] not in chosen
    same = wanted[2] == instead[2] or WHOLE_TABLE in {wanted[2], instead[2]}
    return tables if alone and same else (wanted, instead)


def _nearest(entity: Entity, used: Elements) -> Element | None:
    known = sorted(element for element in used if element in entity.similarities)
    return max(known, key=entity.similarities.__getitem__, default=None)
