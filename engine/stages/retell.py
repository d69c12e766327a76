"""Where the order is unsure, asks the model how likely it is that each statement answers this very question.

That is a noisy channel: the model reads the other way round than it wrote. Of a statement that shows, tests or leaves
out something else the question's own words are unlikely, whatever its rules and its likelihood say of it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.ports import Completion, Prompt
from engine.core.state import State
from engine.core.tools import Tools
from engine.errors import NLError
from engine.prompting.prompts import prompt
from engine.stages.rank import likeliest_first
from engine.types import TraceLine

UNSURE = 0.55
"""Of the confidences of all candidates: where the first has less, the model is asked."""

LEAST = 0.2
"""The same of a candidate that is asked about: what has less is first but rarely, however well it fits. Of 92 questions
that are asked with 0.6 and 0.05 (`docs/ranking.md`) eight are won and four lost; with these none of the eight is not
won and three of the four are not lost, by two of five statements that were asked about."""

WEIGHT = 0.2
"""What a nat of the question's log-probability weighs, in log-odds: its words are not independent of each other."""

TIME = 0.5
"""Of what is left of the question's time: an answer in another order is better than none."""


async def retell(state: State, tools: Tools) -> State:
    """Sorts `state.candidates` anew, their confidences shared out otherwise; as they were where the model fails."""
    asked = _asked(state.candidates)
    if len(asked) < 2 or not (tools.model.goes_on and tools.generation.retell):  # noqa: PLR2004 - nothing to order
        return state
    clock = state.deadline.clock
    until = Deadline(clock() + state.deadline.remaining() * TIME, clock)
    answers = await asyncio.gather(*(_told(each, state.ask.question, tools, until) for each in asked))
    told = [each for each in answers if each is not None]
    if len(told) < len(asked):
        return state.noted(TraceLine("retell", "the order stays", "the model did not answer"))
    usage = state.usage
    for each in told:
        usage = usage.plus(each.usage)
    likelihoods = [(each.logprob or 0.0) * each.generated for each in told]
    weighed = _shared_out(asked, likelihoods)
    placed = await asyncio.to_thread(likeliest_first, (*weighed, *state.candidates[len(asked) :]))
    lines = [
        TraceLine("retell", each.sql, f"the question's log-probability {likelihood:.1f}", each.confidence)
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


async def _told(candidate: Candidate, question: str, tools: Tools, deadline: Deadline) -> Completion | None:
    """The question as the model's answer; None where it fails."""
    asked = Prompt(prompt("generate_system"), prompt("retell_user", sql=candidate.sql))
    try:
        return await tools.model.likelihood(asked, question, deadline=deadline)
    except NLError:
        return None
