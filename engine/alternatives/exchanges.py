"""The exchanges to try on a statement: by the model's token probabilities and by similar names."""

from __future__ import annotations

import asyncio

from engine.alternatives.synonyms import Exchange, exchanges, interchangeable, phrases
from engine.alternatives.token_alternatives import token_alternatives
from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE
from engine.core.ports import Completion, Encoder
from schema_catalog.types import Snapshot

LEAST_PROBABILITY = 0.01
"""Least probability of another column at the model's token: about three in four of AmbiQT's synonyms have it."""


async def find_exchanges(
    candidate: Candidate, written: Completion, snapshot: Snapshot, encoder: Encoder
) -> list[Exchange]:
    """Exchanges of tables, then by the model's probabilities, then of columns by their names' similarity."""
    likely = [
        Exchange(each.used, each.other, 1.0)
        for each in token_alternatives(candidate, written.tokens, snapshot)
        if each.probability >= LEAST_PROBABILITY and interchangeable(each.used, each.other, snapshot)
    ]
    known = {(each.used, each.other) for each in likely}
    texts = phrases(table for table in snapshot.tables if table.key in candidate.tables)
    vectors = await asyncio.to_thread(encoder.encode, texts) if texts else ()
    by_text = dict(zip(texts, vectors, strict=True))
    alike = exchanges(
        candidate.columns,
        candidate.tables,
        snapshot,
        lambda one, other: float(by_text[one] @ by_text[other]),
    )
    found = [*likely, *(each for each in alike if (each.used, each.other) not in known)]
    return sorted(found, key=lambda each: each.used[2] != WHOLE_TABLE)
