"""Judge: orders the candidates by how likely each is right, what the asker prefers counted in.

`engine.judge.model` judges the features of each (`engine.judge.features`). A model's readings keep its order; what
rules made of them follows. If no order is clear, the model is asked how likely this question is given each statement
(a noisy channel): a statement that shows or tests something else makes the question's own words unlikely.

What the asker prefers is added to a candidate's log-odds by one fixed weight, within bounds; order and confidence are
taken after it, so that a confidence is its own statement's. Candidates equal to the verified answer are dropped.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.findings.evidence import evidence
from engine.judge.features import Features, candidate_features
from engine.learn.recall import agreement
from engine.llm.prompts import prompt
from engine.statement.read import normal_form
from engine.values import wording
from engine.values.candidate import Candidate, Evidence, are_readings, telling_unshown
from engine.values.deadline import Deadline
from engine.values.errors import NLError
from engine.values.messages import TraceLine
from engine.values.ports import Completion, Prompt
from engine.values.state import State
from engine.values.tools import Tools

UNSURE = 0.55
"""Of the confidences of all candidates: where the first has less, the model is asked."""

LEAST = 0.2
"""The same of a candidate that is asked about: what has less is first but rarely, however well it fits
(`benchmarks/STUDIES.md`, The order of candidates)."""

TIME = 0.5
"""Of what is left of the question's time: an answer in another order is better than none."""

MOST = math.log(3.0)
"""What preferences move the log-odds of two statements apart at most: one that is three times as likely stays first."""

PREFERRED = MOST
"""What a preference of strength 1 adds to a statement's log-odds: one choice (0.5) half of `MOST`, its share."""

REFUSED = 10.0
"""What is taken from those of a statement that the asker rejected for this very question."""

_Judged = tuple[Candidate, Features]


async def judge(state: State, tools: Tools) -> State:
    """Sorts `state.candidates` and keeps the best `k`, best first, with confidences; none that is the verified one."""
    found, each = await asyncio.to_thread(known, state, tools)
    confidences = tools.judgement.confidences(state, each)
    asked = [] if are_readings(state.candidates) else unsure(confidences)
    if len(asked) > 1 and not state.late and tools.model.profile.goes_on and tools.generation.retell:
        told = await questions([state.candidates[n] for n in asked], state, tools)
        if told:
            for one in told:
                state = replace(state, usage=state.usage.plus(one.usage))
            likely = [(one.logprob or 0.0) * one.generated for one in told]
            each = with_questions(each, dict(zip(asked, likely, strict=True)))
            confidences = tools.judgement.confidences(state, each)
        else:
            state = state.noted(TraceLine("judge", "the order stays", "the model did not answer"))
    agreed = await asyncio.to_thread(_agreed, state)
    confidences = preferred(confidences, agreed) if any(agreed) else confidences
    judged = (
        replace(candidate, confidence=confidence, evidence=one)
        for candidate, confidence, one in zip(state.candidates, confidences, found, strict=True)
    )
    each = [{**one, "preferred": odds} for one, odds in zip(each, agreed, strict=True)]
    ranked = sorted(zip(judged, each, strict=True), key=lambda one: round(one[0].confidence, 9), reverse=True)
    kept = _kept(ranked, state.k)
    lines = [TraceLine("judge", one.sql, _words(one, of), one.confidence) for one, of in kept]
    left = [one for one, of in ranked if (one, of) not in kept]
    shown = telling_unshown([one for one, _ in kept], left, wording.MORE_THAN_K)
    others = await asyncio.to_thread(_others, shown, state)
    return replace(state, candidates=tuple(others)).noted(*lines)


def known(state: State, tools: Tools) -> tuple[list[Evidence], list[Features]]:
    """What is known of each candidate. Runs a network and reads whole schemas: not for the event loop."""
    found = evidence(state, tools.generation.rules_off)
    read = tools.ranker.rank(state.question, state.candidates)
    each = candidate_features(state, found)
    return found, [{**one, "second_stage": score} for one, score in zip(each, read, strict=True)]


def _words(candidate: Candidate, features: Features) -> str:
    """What the order is made of, for the trace."""
    numbers = (f"{name} {value:.3g}" for name, value in features.items() if value)
    return ", ".join([*numbers, *candidate.evidence.against])


def _kept(ranked: Sequence[_Judged], k: int) -> Sequence[_Judged]:
    """The best `k`; where rules made them all, the last gives way to the likeliest that the model wrote itself."""
    written = [each for each in ranked if each[0].origin.logprob is not None and not each[0].changes]
    best = ranked[:k]
    return best if k == 1 or not written or written[0] in best else [*best[: k - 1], written[0]]


def unsure(confidences: Sequence[float]) -> list[int]:
    """The places of the candidates that the model is asked about, best first; none if the first one is sure."""
    total = sum(confidences)
    order = sorted(range(len(confidences)), key=confidences.__getitem__, reverse=True)
    if not order or confidences[order[0]] >= UNSURE * total:
        return []
    return [n for n in order if confidences[n] >= LEAST * total]


async def questions(candidates: Sequence[Candidate], state: State, tools: Tools) -> list[Completion]:
    """The question as the model's answer to each statement; none where it fails for one."""
    clock = state.deadline.clock
    until = Deadline(clock() + state.deadline.remaining() * TIME, clock)

    async def told(candidate: Candidate) -> Completion | None:
        asked = Prompt(
            prompt("generate_system"), prompt("rank_by_question_user", sql=candidate.sql), local=state.local
        )
        try:
            return await tools.model.likelihood(asked, state.question.text, deadline=until)
        except NLError:
            return None

    found = [each for each in await asyncio.gather(*map(told, candidates)) if each is not None]
    return found if len(found) == len(candidates) else []


def with_questions(each: Sequence[Features], told: Mapping[int, float]) -> list[Features]:
    """The features with the question's log-probability by place, against the mean of those that were asked about."""
    mean = sum(told.values()) / (len(told) or 1)
    return [{**one, "question": told[n] - mean} if n in told else one for n, one in enumerate(each)]


def preferred(confidences: Sequence[float], agreed: Sequence[float]) -> list[float]:
    """The confidences with `agreed` added to their log-odds among each other; together they are as sure as before."""
    moved = [each * math.exp(odds) for each, odds in zip(confidences, agreed, strict=True)]
    total = sum(confidences) / (sum(moved) or 1.0)
    return [total * each for each in moved]


def _agreed(state: State) -> list[float]:
    """What each candidate's agreement with the asker's preferences adds to its log-odds, negative where it contradicts.

    Takes normal forms: not for the event loop.
    """
    refused = {normal_form(sql, route) for route in state.routes for sql in route.learned.refused}
    found = []
    for each in state.candidates:
        route = state.route_of(each.database)
        odds = PREFERRED * agreement(each, route.learned.preferences)
        within = min(max(odds, -MOST / 2), MOST / 2)
        found.append(-REFUSED if refused and normal_form(each.sql, route) in refused else within)
    return found


def _others(candidates: Sequence[Candidate], state: State) -> Sequence[Candidate]:
    """Those that do not have the normal form of `state.verified`: not for the event loop."""
    if state.verified is None:
        return candidates
    known = normal_form(state.verified.sql, state.route_of(state.verified.database))
    return [each for each in candidates if normal_form(each.sql, state.route_of(each.database)) != known]
