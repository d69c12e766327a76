"""A question's way through nine stages, in one tuple."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from engine.ask.decide import decide
from engine.ask.understand import understand
from engine.findings.admit import admit
from engine.judge.judge import judge
from engine.judge.run import run as run_candidates
from engine.judge.select import select
from engine.learn.recall import recall
from engine.link.link import link_schemas
from engine.route.route import divide, reweigh, route
from engine.values.errors import CancelledError
from engine.values.messages import StageTiming
from engine.values.state import State
from engine.values.tools import Tools
from engine.write.write import write

Stage = Callable[[State, Tools], Awaitable[State]]


async def link(state: State, tools: Tools) -> State:
    """What the question says, found in each schema, and what that makes of the routes; raises as its steps do.

    Dividing and reweighing rest on what linking found. The steps stand in three rooms, and so the stage stands here.
    """
    for step in (link_schemas, divide, reweigh, recall):
        if not state.settled:
            state = await step(state, tools)
    return state


CANDIDATE_STAGES: tuple[Stage, ...] = (understand, route, link, write, admit, run_candidates, judge, select)
"""Those that find candidates, judge them and leave some out; nothing is decided about what becomes of them."""

STAGES = (*CANDIDATE_STAGES, decide)


async def run(state: State, tools: Tools, stages: tuple[Stage, ...] = STAGES) -> State:
    """Runs every stage, each timed, until one settles it; raises what a stage raises, and `CancelledError` out of time.

    Once there are candidates the question goes on to its end: a stage for which the time is over is left out.

    `stages`: others than the product's, for a benchmark that measures what a stage is worth.
    """
    state = replace(state, strategy=tools.strategy)
    for stage in stages:
        if state.settled:
            break
        if not state.candidates:
            state.deadline.remaining()
        began = state.deadline.clock()
        try:
            state = await stage(state, tools)
        except CancelledError:
            # What a rule made of a statement, and no server has planned, did not stand every check.
            state = replace(
                state, candidates=tuple(each for each in state.candidates if each.cost is not None)
            )
            if not state.candidates:
                raise
            state = state.out_of_time(stage.__name__)
        timing = StageTiming(stage.__name__, round(state.deadline.clock() - began, 4))
        state = replace(state, timings=(*state.timings, timing))
    return await _in_parts(state, tools, stages) if state.parts else state


async def _in_parts(whole: State, tools: Tools, stages: tuple[Stage, ...]) -> State:
    """The first statement of each part of a question, by its own database; it stays refused where a part has none."""
    done: list[State] = []
    for left, (database, question) in zip(range(len(whole.parts), 0, -1), whole.parts, strict=True):
        now = whole.deadline.clock()
        part = replace(
            whole,
            ask=replace(whole.ask, db=database, run=False, ask=False),
            question=replace(whole.question, text=question),
            routed_by=None,
            dialogue=replace(whole.dialogue, follow_up=None, read_as=""),
            deadline=replace(whole.deadline, at=now + (whole.deadline.at - now) / left),
            routes=(),
            refusal=None,
            parts=(),
        )
        done.append(await run(part, tools, stages))
        whole = replace(whole, trace=done[-1].trace, timings=done[-1].timings, usage=done[-1].usage)
    first = [
        each for state in done for each in ((state.verified,) if state.verified else state.candidates)[:1]
    ]
    if len(first) < len(done) or whole.refusal is None:
        return replace(whole, parts=())
    told = [f"{whole.refusal.words}; ", *[""] * (len(first) - 1)]
    return replace(
        whole,
        refusal=None,
        routes=tuple(route for state in done for route in state.routes),
        candidates=tuple(
            replace(each, explanation=f"{said}\u201c{question}\u201d: ")
            for said, each, (_, question) in zip(told, first, whole.parts, strict=True)
        ),
        doubtful=any(state.doubtful for state in done),
        late=any(state.late for state in done),
    )
