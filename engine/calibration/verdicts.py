"""The model's verdict on each candidate: does it answer the question, A (yes) or B (no) (Odin §6.3.1).

The prompts begin as the generator's do, with the values and hints (Odin §7.2), so that all but the statement is in the
model's prefix cache, and go out together.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from engine.calibration.scores import model_score
from engine.core.candidate import Candidate
from engine.core.ports import Prompt, Weighed
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.errors import NLError
from engine.prompting.known_text import known_text
from engine.prompting.prompts import prompt
from engine.prompting.schema_text import schema_text

OPTIONS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score`: see `model_score`. `cost`: None where the model could not be asked."""

    score: float
    cost: Weighed | None


async def verdicts(state: State, tools: Tools) -> tuple[Verdict, ...]:
    """One for each of `state.candidates`; `UNSCORED` where the model fails."""
    routes = {route.database.name: route for route in state.routes}
    return tuple(
        await asyncio.gather(
            *(_verdict(candidate, routes[candidate.database], state, tools) for candidate in state.candidates)
        )
    )


async def _verdict(candidate: Candidate, route: Route, state: State, tools: Tools) -> Verdict:
    text, shown = schema_text(route.snapshot, route.tables)
    known = known_text(route, state.dialogue, shown)
    asked = Prompt(
        prompt("generate_system"),
        prompt("judge_user", schema=text, values=known, question=state.ask.question, sql=candidate.sql),
    )
    try:
        weighed = await tools.model.weigh(asked, OPTIONS, deadline=state.deadline)
    except NLError:
        return Verdict(model_score(None, None), None)
    yes, no = weighed.logprobs
    return Verdict(model_score(yes, no), weighed)
