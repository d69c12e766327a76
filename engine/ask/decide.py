"""Decide: whether statements are shown, a question is asked back, or none is answered.

What is cheapest for the asker is `engine.ask.policy`'s to say, and what is asked `engine.ask.question_back`'s.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.ask.policy import Action, Decision, Worth, cheapest, doubt
from engine.ask.question_back import Proposal, best_proposal, by_meanings, fingerprints
from engine.findings.looks import with_left_out
from engine.values.candidate import are_readings
from engine.values.messages import OnDoubt, TraceLine
from engine.values.state import State
from engine.values.tools import Tools

HOPELESS = 0.05
"""If the chance that any candidate is right is below this, none is shown: the data does not hold the answer."""


async def decide(state: State, tools: Tools) -> State:
    """Sets `dialogue`: a question that is pending, where one is, and what the next turn goes on with.

    Where statements are shown they tell what they leave out.
    """
    decided = await _decided(state, tools)
    return decided if decided.settled else await with_left_out(decided, tools)


async def _decided(state: State, tools: Tools) -> State:
    found = await asyncio.to_thread(fingerprints, state)
    left = replace(state.dialogue, survivors=state.considered, fingerprints=found)
    state = replace(state, dialogue=left)
    if not state.candidates:
        return state
    if state.verified is not None:
        return state
    chances = tuple(candidate.confidence for candidate in state.candidates)
    # The rows of readings are the question: each says what it means. None of them may run unread.
    on_doubt = state.ask.on_doubt or tools.dialogue.on_doubt
    unprompted = state.ask.run or not are_readings(state.candidates)
    asking = may_ask(state, tools) and (unprompted or on_doubt is OnDoubt.ASK)
    proposal = await asyncio.to_thread(proposed, state) if asking else None
    worth = None
    if proposal is not None and unprompted:
        worth = Worth(tools.judgement.turns(state, chances, proposal.parting), proposal.misread)
    decision = cheapest(chances, worth, tools.dialogue, run=state.ask.run)
    state = state.noted(TraceLine("decide", decision.action, _prices(decision), chances[0]))
    if decision.action is Action.ABSTAIN:
        return await _in_doubt(state, on_doubt, proposal)
    return _asked(state, proposal) if decision.action is Action.ASK and proposal is not None else state


async def _in_doubt(state: State, on_doubt: OnDoubt, proposal: Proposal | None) -> State:
    """Unlikely statements, which passed all checks: shown with the doubt, asked about, or kept back.

    They are kept back too if nothing in the data is about the question, or if all together are below `HOPELESS`.
    """
    refusal = await asyncio.to_thread(doubt, state)
    hopeless = sum(each.confidence for each in state.candidates) < HOPELESS
    if on_doubt is OnDoubt.ABSTAIN or hopeless or state.route_of(state.candidates[0].database).unanswerable:
        return replace(state.refused(refusal, "decide"), candidates=())
    if on_doubt is OnDoubt.ASK and proposal is not None:
        return _asked(state, proposal)
    return replace(state, doubtful=True).told(refusal, "decide", "shown in doubt")


def _asked(state: State, proposal: Proposal) -> State:
    question = proposal.question
    line = TraceLine("decide", f"asked: {question.ambiguity}", question.words, proposal.errors.gain)
    return replace(state, dialogue=replace(state.dialogue, pending=question)).noted(line)


def may_ask(state: State, tools: Tools) -> bool:
    """Whether the asker takes a question back, and has not been asked as often as is allowed."""
    return state.ask.ask and len(state.dialogue.turns) < tools.dialogue.questions


def proposed(state: State) -> Proposal | None:
    """The question back that the candidates give rise to. Blocks: call it in a thread."""
    if all(each.meaning.says for each in state.candidates):
        return by_meanings(state.candidates, state.dialogue.turns)
    return best_proposal(
        state.candidates,
        {route.database.name: route.snapshot for route in state.routes},
        state.question,
        state.dialogue.turns,
        entities=[entity for route in state.routes for entity in route.entities],
        links={route.database.name: route.links for route in state.routes if route.links is not None},
    )


def _prices(decision: Decision) -> str:
    ask = "nothing to ask" if decision.ask is None else f"asking {decision.ask:.2f}"
    return f"showing costs {decision.show:.2f}, {ask}, no answer {decision.abstain:.2f}"
