"""From a choice to votes: which phrase of the question meant which column or table (Odin §7.1, algorithm 3).

A phrase is linked to the nearest element that only the chosen statement reads, and to the nearest that only a rejected
one reads: a pair of alternatives. Where two tables are alternatives, a pair of their columns becomes the pair of
tables. Each element is in one pair at most, with the phrase that is nearest to it and not to an element that both
statements read: in "names of singers" `artist_name` and `performer_name` of one table `singer` belong to *names*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.core.elements import WHOLE_TABLE, Entity
from engine.core.ports import Encoder
from engine.learning.types import Element, Vote
from engine.linking.element_text import compared
from engine.text.tokens import folded_name
from schema_catalog.types import Snapshot

NEAREST = 0.3
"""Cosine below which a phrase is not linked to a pair of elements."""

SHARED = 0.5
"""Weight of a phrase's cosine to the nearest table that both statements read, subtracted from its cosine to a pair."""

Elements = frozenset[Element]
_Pair = tuple[Element, Element]


def bare_entities(texts: Sequence[str], snapshot: Snapshot, encoder: Encoder) -> tuple[Entity, ...]:
    """Phrases with their cosines to tables, and to columns by their names without the table's.

    With the table's name, as for routing and masks, *name* is nearer to `singer` than to its `performer_name`.
    """
    names = {(*table.key, WHOLE_TABLE): folded_name(table.name) for table in snapshot.tables}
    names |= {(*table.key, column.name): folded_name(column.name) for table, column in snapshot.columns()}
    return compared(texts, names, encoder)


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
    """(score, phrase, pair) for each phrase that is near enough to a pair: higher where no shared table is as near."""
    for entity in entities:
        wanted, instead = _nearest(entity, chosen - other), _nearest(entity, other - chosen)
        if wanted is None or instead is None:
            continue
        pair = _lifted(wanted, instead, chosen, other)
        cosine = max(entity.similarities.get(element, -1.0) for element in pair)
        if cosine >= NEAREST:
            shared = _nearest(entity, frozenset(key for key in chosen & other if key[2] == WHOLE_TABLE))
            yield (
                cosine - SHARED * (0.0 if shared is None else entity.similarities[shared]),
                entity.text,
                pair,
            )


def _lifted(wanted: Element, instead: Element, chosen: Elements, other: Elements) -> _Pair:
    tables = (*wanted[:2], WHOLE_TABLE), (*instead[:2], WHOLE_TABLE)
    alone = tables[0] not in other and tables[1] not in chosen
    same = wanted[2] == instead[2] or WHOLE_TABLE in {wanted[2], instead[2]}
    return tables if alone and same else (wanted, instead)


def _nearest(entity: Entity, used: Elements) -> Element | None:
    known = sorted(element for element in used if element in entity.similarities)
    return max(known, key=entity.similarities.__getitem__, default=None)
