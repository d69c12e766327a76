"""Orders the candidates and gives each a confidence.

What a ranker makes of statement and question (`engine.ranking`; without it how likely the model found the statement)
and what else is known of it (`engine.ranking.evidence`), weighed by the route. The confidences of one answer sum to at
most 1; they are not calibrated.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from engine.core.candidate import Candidate
from engine.core.ports import Ranker, Ranking
from engine.core.state import State
from engine.core.tools import Tools
from engine.dialogue.refusal import absent
from engine.prompting.term_text import defined
from engine.ranking.evidence import Evidence, evidence
from engine.sql.describe import describe
from engine.types import TraceLine

_Weighed = tuple[Candidate, str, float]
"""A candidate, its scores in words, and its weight."""


async def rank(state: State, tools: Tools) -> State:
    """Sorts `state.candidates` and keeps the best `k`, best first, with confidences and explanations."""
    return await asyncio.to_thread(_ranked, state, tools.ranker)


def _ranked(state: State, ranker: Ranker) -> State:
    """The same. Runs a network and reads whole schemas: not for the event loop."""
    rankings = ranker.rank(state.ask.question, state.candidates)
    shares = {route.database.name: route.probability for route in state.routes}
    found = evidence(state)
    logits = [ranking.score + known.log_odds for ranking, known in zip(rankings, found, strict=True)]
    best = max(logits, default=0.0)
    weighed = [
        (
            replace(candidate, unsaid=known.words, terms=known.used, notes=known.notes),
            _scores(candidate, ranking, known),
            math.exp(logit - best) * shares.get(candidate.database, 0.0),
        )
        for candidate, ranking, logit, known in zip(state.candidates, rankings, logits, found, strict=True)
    ]
    weighed.sort(key=lambda each: each[2], reverse=True)
    total = sum(weight for _, _, weight in weighed) or 1.0
    known = sum(shares[name] for name in {c.database for c in state.candidates})
    kept = _kept(weighed, state.k)
    ranked = [replace(c, confidence=known * weight / total) for c, _, weight in kept]
    lines = [
        TraceLine("rank", c.sql, scores, c.confidence) for c, (_, scores, _) in zip(ranked, kept, strict=True)
    ]
    return replace(state, candidates=explained(ranked)).noted(*lines)


def _kept(weighed: Sequence[_Weighed], k: int) -> Sequence[_Weighed]:
    """The best `k`; where rules made them all, the last gives way to the likeliest that the model wrote itself."""
    written = [each for each in weighed if each[0].logprob is not None and not each[0].changes]
    best = weighed[:k]
    if k == 1 or not written or any(each in written for each in best):
        return best
    return [*best[: k - 1], written[0]]


def _scores(candidate: Candidate, ranking: Ranking, known: Evidence) -> str:
    """What the order is made of, for the trace."""
    parts = [f"logprob {candidate.logprob}", f"schema {candidate.schema_score:.3f}"]
    parts += [
        f"{name} {value:.3f}"
        for name, value in (("first stage", ranking.first), ("second stage", ranking.second))
        if value is not None
    ]
    parts += [f"readings {known.readings}"] if known.readings else []
    parts += ["a fork"] if candidate.forked else []
    parts += ["finds nothing"] if candidate.fruitless else []
    parts += [f"says nothing of {', '.join(known.unsaid)}"] if known.unsaid else []
    parts += [f"leaves {', '.join(known.linked)} unread"] if known.linked else []
    parts += [*known.contradicted]
    parts += [f"reads {', '.join(known.outdated)}, deprecated"] if known.outdated else []
    return ", ".join(parts)


def likeliest_first(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Explained candidates by their confidences; where another order comes of it, by the one that leads now.

    Parses each then: not for the event loop.
    """
    ordered = sorted(candidates, key=lambda each: each.confidence, reverse=True)
    return tuple(candidates) if ordered == [*candidates] else explained(ordered)


def explained(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, best first, each with its explanation. Parses each: not for the event loop."""
    return tuple(replace(each, explanation=explain(each, candidates[0])) for each in candidates)


def explain(candidate: Candidate, best: Candidate) -> str:
    """What the statement does in words, its terms and units, what rules changed, and what it alone reads."""
    said = [describe(candidate.sql), *(f"{each.name}: {defined(each)}" for each in candidate.terms)]
    said += [*candidate.notes, *(change.how for change in candidate.changes)]
    said += [absent(candidate.missing)] if candidate.missing else []
    said += [f"says nothing of {', '.join(candidate.unsaid)}"] if candidate.unsaid else []
    words = "; ".join(said)
    if candidate.database != best.database:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; uses {', '.join(gained)} where 1 uses {', '.join(lost)}"
    return words
