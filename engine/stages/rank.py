"""Orders the candidates and gives each a confidence.

A simple score: how likely the model found the statement and how well its masked schema still represents the
question, weighed by the route. The confidences of one answer sum to at most 1; they are not calibrated.
"""

from __future__ import annotations

import math
from dataclasses import replace

from engine.sql.describe import describe
from engine.state import Candidate, State, Tools
from engine.types import TraceLine

SHARPNESS = 6.0
"""How much one nat of mean log-probability weighs against similarity."""


async def rank(state: State, _tools: Tools) -> State:
    """Sorts `state.candidates`, best first, with confidences and explanations."""
    shares = {route.database.name: route.probability for route in state.routes}
    weights = {c.sql: shares.get(c.database, 0.0) * math.exp(_score(c)) for c in state.candidates}
    total = sum(weights.values()) or 1.0
    ordered = sorted(state.candidates, key=lambda c: weights[c.sql], reverse=True)
    known = sum(shares[name] for name in {c.database for c in ordered})
    ranked = tuple(replace(c, confidence=known * weights[c.sql] / total) for c in ordered)
    explained = tuple(replace(c, explanation=explain(c, ranked[0])) for c in ranked)
    lines = [
        TraceLine("rank", c.sql, f"logprob {c.logprob}, schema {c.schema_score:.3f}", c.confidence)
        for c in ranked
    ]
    return replace(state, candidates=explained).noted(*lines)


def _score(candidate: Candidate) -> float:
    return SHARPNESS * (candidate.logprob or 0.0) + candidate.schema_score


def explain(candidate: Candidate, best: Candidate) -> str:
    """What the statement does in words, and what it reads that the best candidate does not."""
    words = describe(candidate.sql)
    if candidate.database != best.database:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; uses {', '.join(gained)} where 1 uses {', '.join(lost)}"
    return words
