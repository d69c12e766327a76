"""Which names of a statement could be exchanged: for what the model nearly wrote, and for what is alike."""

from __future__ import annotations

import asyncio

from engine.alternatives.synonyms import Exchange, exchanges, interchangeable, phrases
from engine.alternatives.token_alternatives import token_alternatives
from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE
from engine.core.ports import Completion, Encoder
from schema_catalog.types import Snapshot

LEAST_PROBABILITY = 0.01
"""With which the model would have named another column, for that to be a reading of its own. Of the synonyms of
AmbiQT's columns it gives about three in four as much, and few others."""


async def find_exchanges(
    candidate: Candidate, written: Completion, snapshot: Snapshot, encoder: Encoder
) -> list[Exchange]:
    """Tables of the same columns, then what the model nearly named, then columns of nearly the same name."""
    nearly = [
        Exchange(each.used, each.other, 1.0)
        for each in token_alternatives(candidate, written.tokens, snapshot)
        if each.probability >= LEAST_PROBABILITY and interchangeable(each.used, each.other, snapshot)
    ]
    known = {(each.used, each.other) for each in nearly}
    texts = phrases(table for table in snapshot.tables if table.key in candidate.tables)
    vectors = await asyncio.to_thread(encoder.encode, texts) if texts else ()
    by_text = dict(zip(texts, vectors, strict=True))
    alike = exchanges(
        candidate.columns,
        candidate.tables,
        snapshot,
        lambda one, other: float(by_text[one] @ by_text[other]),
    )
    found = [*nearly, *(each for each in alike if (each.used, each.other) not in known)]
    return sorted(found, key=lambda each: each.used[2] != WHOLE_TABLE)
