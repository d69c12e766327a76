"""Orders the candidates: by likelihood and doubts, by what they answer, and by what the asker prefers.

Orders the candidates and gives each a confidence.

What a ranker makes of statement and question (`engine.ranking`; without it how likely the model found the statement)
and what else is known of it (`engine.ranking.evidence`), weighed by the route. The confidences of one answer sum to at
most 1; they are not calibrated.

Where the order is unsure, asks the model how likely it is that each statement answers this very question.

That is a noisy channel: the model reads the other way round than it wrote. Of a statement that shows, tests or leaves
out something else the question's own words are unlikely, whatever its rules and its likelihood say of it.

Puts the candidates first that agree with the asker's preferences.

A preference only orders. A candidate that contradicts a weak one keeps its place behind those that agree; one that
contradicts a strong one, or was rejected for this very question, comes last. Confidences stay with the places. Drops
candidates equal to the verified answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.ports import Completion, Prompt, Ranker, Ranking
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.dialogue.description import describe
from engine.dialogue.refusal import absent
from engine.errors import NLError
from engine.prompting.known_text import defined
from engine.prompting.prompts import prompt
from engine.ranking.evidence import Evidence, beside_readings, evidence
from engine.readings.order import ByPlace, are_readings
from engine.sql.canonical import canonical
from engine.sql.tree import parsed
from engine.stages.retrieve_feedback import agreement
from engine.types import TraceLine

_Weighed = tuple[Candidate, str, float]
"""A candidate, its scores in words, and its weight."""


async def rank(state: State, tools: Tools) -> State:
    """Sorts `state.candidates` and keeps the best `k`, best first, with confidences and explanations."""
    ranker = ByPlace() if are_readings(state.candidates) else tools.ranker
    return await asyncio.to_thread(_ranked, state, ranker)


def _ranked(state: State, ranker: Ranker) -> State:
    """The same. Runs a network and reads whole schemas: not for the event loop."""
    rankings = ranker.rank(state.ask.question, state.candidates)
    shares = {route.database.name: route.probability for route in state.routes}
    found, weights = evidence(state), shares
    if are_readings(state.candidates):
        # The model has seen all databases, and has chosen.
        found, weights = list(map(beside_readings, found)), dict.fromkeys(shares, 1.0)
    logits = [ranking.score + known.log_odds for ranking, known in zip(rankings, found, strict=True)]
    best = max(logits, default=0.0)
    weighed = [
        (
            replace(candidate, unsaid=known.words, terms=known.used, notes=known.notes),
            _scores(candidate, ranking, known),
            math.exp(logit - best) * weights.get(candidate.database, 0.0),
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


def explained(
    candidates: Sequence[Candidate], doubts: Mapping[str, Sequence[str]] | None = None
) -> tuple[Candidate, ...]:
    """The candidates, best first, each with its explanation. Parses each: not for the event loop.

    `doubts`: where none is likely, what is against all statements on a database, by its name.
    """
    return tuple(
        replace(each, explanation=explain(each, candidates[0], (doubts or {}).get(each.database)))
        for each in candidates
    )


def explain(candidate: Candidate, best: Candidate, doubts: Sequence[str] | None = None) -> str:
    """What the statement does in words, its terms and units, what rules changed, and what it alone reads.

    `doubts`: what else is against it where it is hardly what was asked; None where it is not doubted.
    """
    meaning = candidate.meaning.rstrip(".")
    # Some models give the statement once more as its meaning.
    said = [describe(candidate.sql) if parsed(meaning) is not None else meaning or describe(candidate.sql)]
    said += [f"assuming {candidate.assumes.rstrip('.')}"] if candidate.assumes else []
    said += [*(f"{each.name}: {defined(each)}" for each in candidate.terms)]
    said += [*candidate.notes, *(change.how for change in candidate.changes)]
    against = [absent(candidate.missing)] if candidate.missing else []
    named = ", ".join(f"'{each}'" for each in candidate.unsaid)
    against += [f"says nothing of {named}"] if named else []
    if doubts is not None:
        against = [f"not sure: {', '.join([*against, *doubts]) or 'hardly what you ask'}"]
    words = "; ".join([*said, *against, *_in_rows(candidate, best)])
    if candidate.database != best.database:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; uses {', '.join(gained)} where 1 uses {', '.join(lost)}"
    return words


def _in_rows(candidate: Candidate, best: Candidate) -> list[str]:
    """How many rows a statement finds, where one of it and the best was made of the other, which finds others."""
    made = [each.changes[-1] for each in (candidate, best) if each.changes]
    counts = [_rows_found(each) for each in (candidate, best)]
    if not any({each.before, each.after} == {candidate.sql, best.sql} for each in made) or None in counts:
        return []
    return [f"{counts[0]} rows where 1 finds {counts[1]}"] if counts[0] != counts[1] else []


def _rows_found(candidate: Candidate) -> str | None:
    """Rows that a statement gives, or that it counts where it does nothing else; None where that is not known."""
    preview, tree = candidate.preview, parsed(candidate.sql)
    if preview is None or preview.total is None or tree is None:
        return None
    alone = [item.unalias() for item in tree.expressions]
    counts = preview.total == len(alone) == 1 and isinstance(alone[0], exp.Count)
    return preview.rows[0][0] if counts else str(preview.total)


UNSURE = 0.55
"""Of the confidences of all candidates: where the first has less, the model is asked."""

LEAST = 0.2
"""The same of a candidate that is asked about: what has less is first but rarely, however well it fits
(`benchmarks/STUDIES.md`, The order of candidates)."""

WEIGHT = 0.2
"""What a nat of the question's log-probability weighs, in log-odds: its words are not independent of each other."""

TIME = 0.5
"""Of what is left of the question's time: an answer in another order is better than none."""


async def rank_by_question(state: State, tools: Tools) -> State:
    """Sorts `state.candidates` anew, their confidences shared out otherwise; as they were where the model fails."""
    asked = _asked(state.candidates)
    if len(asked) < 2 or state.late or not (tools.model.goes_on and tools.generation.retell):  # noqa: PLR2004 - nothing to order
        return state
    clock = state.deadline.clock
    until = Deadline(clock() + state.deadline.remaining() * TIME, clock)
    answers = await asyncio.gather(*(_likelihood(each, state.ask.question, tools, until) for each in asked))
    told = [each for each in answers if each is not None]
    if len(told) < len(asked):
        return state.noted(TraceLine("rank_by_question", "the order stays", "the model did not answer"))
    usage = state.usage
    for each in told:
        usage = usage.plus(each.usage)
    likelihoods = [(each.logprob or 0.0) * each.generated for each in told]
    weighed = _shared_out(asked, likelihoods)
    placed = await asyncio.to_thread(likeliest_first, (*weighed, *state.candidates[len(asked) :]))
    lines = [
        TraceLine(
            "rank_by_question", each.sql, f"the question's log-probability {likelihood:.1f}", each.confidence
        )
        for each, likelihood in zip(weighed, likelihoods, strict=True)
    ]
    return replace(state, candidates=placed, usage=usage).noted(*lines)


def _asked(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Those that the model is asked about, best first; none where the first one is sure."""
    total = sum(each.confidence for each in candidates)
    if not candidates or candidates[0].confidence >= UNSURE * total:
        return ()
    return [each for each in candidates if each.confidence >= LEAST * total]


def _shared_out(candidates: Sequence[Candidate], likelihoods: Sequence[float]) -> list[Candidate]:
    """Confidences of the same sum, by the question's log-probability for each candidate."""
    best = max(likelihoods)
    weights = [
        each.confidence * math.exp(WEIGHT * (likelihood - best))
        for each, likelihood in zip(candidates, likelihoods, strict=True)
    ]
    scale = sum(each.confidence for each in candidates) / sum(weights)
    return [
        replace(each, confidence=weight * scale) for each, weight in zip(candidates, weights, strict=True)
    ]


async def _likelihood(
    candidate: Candidate, question: str, tools: Tools, deadline: Deadline
) -> Completion | None:
    """The question as the model's answer; None where it fails."""
    asked = Prompt(prompt("generate_system"), prompt("rank_by_question_user", sql=candidate.sql))
    try:
        return await tools.model.likelihood(asked, question, deadline=deadline)
    except NLError:
        return None


REFUSED = 10.0
"""Penalty of a statement that the asker rejected for this very question: above any sum of preferences."""


async def apply_preferences(state: State, tools: Tools) -> State:
    """Sets `preference` and sorts by it, stably; drops what has the normal form of `state.verified`."""
    routes = {route.database.name: route for route in state.routes}
    learned = [route.learned for route in state.routes]
    if state.verified is None and not any(each.preferences or each.refused for each in learned):
        return state
    judged = await asyncio.to_thread(_judged, state, routes)
    ordered = sorted(judged, key=lambda each: _place(each.preference, tools.learning.strong))
    first = state.verified or (ordered[0] if ordered else None)
    placed = tuple(
        replace(each, confidence=there.confidence, explanation=explain(each, first or each))
        for each, there in zip(ordered, judged, strict=True)
    )
    lines = [
        TraceLine(
            "apply_preferences",
            "agrees" if each.preference > 0 else "contradicts",
            each.sql,
            round(each.preference, 3),
        )
        for each in placed
        if each.preference
    ]
    return replace(state, candidates=placed).noted(*lines)


def _place(preference: float, strong: float) -> float:
    """The sort key, least first."""
    return 0.0 if -strong < preference <= 0.0 else -round(preference, 6)


def _judged(state: State, routes: Mapping[str, Route]) -> list[Candidate]:
    """The candidates without the verified one, with their preferences. Parses each: not for the event loop."""
    verified = None if state.verified is None else _normal_form(state.verified, routes)
    refused = {
        (name, canonical(sql, route.snapshot))
        for name, route in routes.items()
        for sql in route.learned.refused
    }
    judged = []
    for each in state.candidates:
        form = _normal_form(each, routes)
        if form != verified:
            agrees = agreement(each, routes[each.database].learned.preferences)
            judged.append(replace(each, preference=-REFUSED if form in refused else agrees))
    return judged


def _normal_form(candidate: Candidate, routes: Mapping[str, Route]) -> tuple[str, str]:
    """The database and the normal form."""
    return (candidate.database, canonical(candidate.sql, routes[candidate.database].snapshot))
