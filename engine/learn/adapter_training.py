"""Training and acceptance of an adapter of the encoder, on held-out pairs of alternatives and verified questions."""

from __future__ import annotations

import asyncio
import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from engine.learn.store import AdapterTraining, Evidence, LearningStore, Verified
from engine.link.element_text import element_words, linked
from engine.link.phrase_adapter import PhraseAdapter, Vectors, correctly_ordered
from engine.question.spans import entities_in
from engine.statement.resolution import resolve
from engine.values.candidate import Candidate
from engine.values.conformal import shortfall
from engine.values.ports import Catalog, Encoder
from schema_catalog.types import Snapshot

FEWEST = 8
"""Least votes for a training; a third of them must be held out."""

WORSE = 0.005
"""Tolerated rise of the verified statements' mean shortfall: rounding."""

log = structlog.stdlib.get_logger("engine")


@dataclass(frozen=True, slots=True)
class Triplets:
    """Votes as vectors, each of shape (n, d)."""

    phrases: Vectors
    preferred: Vectors
    rejected: Vectors

    def __len__(self) -> int:
        return len(self.phrases)


async def adapt(
    scope: str, store: LearningStore, catalog: Catalog, encoder: Encoder
) -> AdapterTraining | None:
    """Trains and stores an adapter for a role, or all (""); None for too few votes. Raises `StoreUnavailableError`."""
    evidence = await store.evidence(scope)
    pairs = await store.pairs(scope)
    snapshots = {database.name: snapshot for database, snapshot in await catalog.entries()}
    outcome = await asyncio.to_thread(train_and_check, scope, evidence, pairs, snapshots, encoder)
    if outcome is not None:
        await store.keep_adapter(outcome)
        log.info("adapter trained", scope=scope or "everybody", verdict=outcome.verdict, votes=outcome.votes)
    return outcome


def train_and_check(
    scope: str,
    evidence: Sequence[Evidence],
    pairs: Sequence[Verified],
    snapshots: dict[str, Snapshot],
    encoder: Encoder,
) -> AdapterTraining | None:
    """Trains and checks; None where the votes are too few. Blocks for seconds: call it in a thread."""
    known = [each for each in evidence if _element_text(each, snapshots) is not None]
    training = _vectors([each for each in known if not held_out(each)], snapshots, encoder)
    test = _vectors([each for each in known if held_out(each)], snapshots, encoder)
    if training is None or test is None or len(training) + len(test) < FEWEST or 3 * len(test) < FEWEST:
        return None
    from engine.models.adapter_fit import train_adapter  # noqa: PLC0415  heavy: imports torch

    made = train_adapter(training.phrases, training.preferred, training.rejected)
    before, after = _right(test, None), _right(test, made)
    worse = _shortfall(pairs, snapshots, encoder, made) - _shortfall(pairs, snapshots, encoder, None)
    verdict = _verdict(before, after, worse)
    weights = made.encoded() if verdict == "used" else None
    return AdapterTraining(scope, len(evidence), weights, before, after, verdict)


def held_out(vote: Evidence) -> bool:
    """Whether a vote is held out, by the hash of its pair: no pair is on both sides."""
    pair = sorted((vote.preferred, vote.rejected))
    return int(hashlib.sha256(repr((vote.database, pair)).encode()).hexdigest(), 16) % 3 == 0


def _verdict(before: float, after: float, worse: float) -> str:
    if after < before:
        return f"dropped: {after:.0%} of the held-out votes, {before:.0%} without it"
    if worse > WORSE:
        return f"dropped: verified statements fit their questions worse, by {worse:.3f}"
    return "used"


def _right(test: Triplets, adapter: PhraseAdapter | None) -> float:
    phrases = test.phrases if adapter is None else adapter.applied(test.phrases)
    return float(np.mean(correctly_ordered(phrases, test.preferred, test.rejected)))


def _shortfall(
    pairs: Sequence[Verified], snapshots: dict[str, Snapshot], encoder: Encoder, adapter: PhraseAdapter | None
) -> float:
    """The mean `shortfall_score` of verified statements; 0 without any."""
    found = []
    for pair in pairs:
        snapshot = snapshots.get(pair.database)
        resolution = None if snapshot is None else resolve(pair.sql, snapshot)
        if snapshot is None or resolution is None or resolution.problems or not resolution.tables:
            continue
        phrases = linked(entities_in(pair.question), snapshot, encoder, adapter)
        candidate = Candidate(pair.database, pair.sql, resolution.tables, resolution.columns)
        found.append(shortfall(candidate, phrases))
    return statistics.fmean(found) if found else 0.0


def _element_text(vote: Evidence, snapshots: dict[str, Snapshot]) -> tuple[str, str] | None:
    snapshot = snapshots.get(vote.database)
    texts = {} if snapshot is None else element_words(snapshot)
    if vote.preferred not in texts or vote.rejected not in texts:
        return None
    return texts[vote.preferred], texts[vote.rejected]


def _vectors(
    evidence: Sequence[Evidence], snapshots: dict[str, Snapshot], encoder: Encoder
) -> Triplets | None:
    texts = [(each.phrase, *(_element_text(each, snapshots) or ("", ""))) for each in evidence]
    if not texts:
        return None
    found = [encoder.encode(list(column)) for column in zip(*texts, strict=True)]
    return Triplets(*found)
