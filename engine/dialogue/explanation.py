"""What each statement of an answer does, in words: its terms and units, what rules changed, what is against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.core.candidate import Candidate
from engine.core.state import State
from engine.dialogue.description import describe
from engine.dialogue.refusal import absent
from engine.prompting.known_text import defined
from engine.sql.tree import parsed


def explained(state: State) -> State:
    """`state` with its candidates' explanations. Parses each: not for the event loop."""
    if not state.candidates:
        return state
    first = state.verified or state.candidates[0]
    doubts = {
        route.database.name: [f"nothing stands for '{each.text}'" for each in route.unknown]
        for route in state.routes
        if state.doubtful
    }
    told = (
        replace(each, explanation=explain(each, first, doubts.get(each.database)))
        for each in state.candidates
    )
    return replace(state, candidates=tuple(told))


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
    words = "; ".join([*said, *against])
    if candidate.database != best.database:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; uses {', '.join(gained)} where 1 uses {', '.join(lost)}"
    return words
