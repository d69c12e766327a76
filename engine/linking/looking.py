"""A look at the data as the asker: one cheap statement within limits of time and cost, or nothing is known."""

from __future__ import annotations

from engine.core.deadline import Deadline
from engine.core.ports import StatementError
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.errors import NLError


async def looked(
    sql: str, route: Route, state: State, tools: Tools, seconds: float
) -> tuple[str | None, ...] | None:
    """The first row of `sql`; None where that is not known: too costly, too slow, not allowed.

    Raises `CancelledError` where the question's time is over.
    """
    if not tools.limits.run_candidates:
        return None
    clock = state.deadline.clock
    deadline = Deadline(clock() + min(seconds, state.deadline.remaining()), clock)
    asker, upstream = state.ask.asker, tools.upstream
    try:
        plan = await upstream.explain(route.database, asker, sql, deadline)
        if plan.cost > tools.limits.run_cost:
            return None
        result = await upstream.run(route.database, asker, sql, 1, deadline)
    except (StatementError, NLError):
        state.deadline.remaining()
        return None
    return result.rows[0]
