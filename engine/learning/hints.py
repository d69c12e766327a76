"""From a choice to votes: which phrase of the question meant which column or table (Odin §7.1, algorithm 3).

Owns the schema linking of feedback. Every phrase is mapped to the nearest element of the chosen statement and of each
rejected one; where the two differ, and each is in its own statement alone, the phrase has shown a preference. Where
tables stand for each other, the pair is lifted from their columns to the tables: who means `artist` and not `performer`
means all of it. Of several phrases for one pair the nearest is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.generation.grammar import WHOLE_TABLE
from engine.learning.types import Element, Vote
from engine.sql.names import Resolution
from engine.state import Entity

NEAREST = 0.2
"""Cosine below which a phrase says nothing about a pair of elements."""

Elements = frozenset[Element]


def elements(resolution: Resolution) -> Elements:
    """The columns that a statement reads, and its tables as a whole."""
    return resolution.columns | {(*table, WHOLE_TABLE) for table in resolution.tables}


def votes(
    entities: Sequence[Entity], chosen: Elements, rejected: Iterable[Elements], weight: float
) -> tuple[Vote, ...]:
    """The votes of one choice, each pair of elements once."""
    best: dict[tuple[Element, Element], tuple[float, str]] = {}
    for other in rejected:
        for entity in entities:
            pair = _pair(entity, chosen, other)
            if pair is None:
                continue
            near = max(entity.similarities.get(element, -1.0) for element in pair)
            if near >= NEAREST and near > best.get(pair, (-1.0, ""))[0]:
                best[pair] = (near, entity.text)
    return tuple(
        Vote(phrase, preferred, instead, weight) for (preferred, instead), (_, phrase) in best.items()
    )


def _pair(entity: Entity, chosen: Elements, other: Elements) -> tuple[Element, Element] | None:
    """What the phrase means in the one statement and in the other, where that differs."""
    wanted, instead = _nearest(entity, chosen), _nearest(entity, other)
    if wanted is None or instead is None or wanted in other or instead in chosen:
        return None
    alone = (*wanted[:2], WHOLE_TABLE) not in other and (*instead[:2], WHOLE_TABLE) not in chosen
    if alone and (wanted[2] == instead[2] or WHOLE_TABLE in {wanted[2], instead[2]}):
        return (*wanted[:2], WHOLE_TABLE), (*instead[:2], WHOLE_TABLE)
    return wanted, instead


def _nearest(entity: Entity, used: Elements) -> Element | None:
    known = sorted(element for element in used if element in entity.similarities)
    return max(known, key=entity.similarities.__getitem__, default=None)
