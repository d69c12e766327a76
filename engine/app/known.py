"""A question whose answer is known: the state in which it is asked, the right rows, and what gives them as well.

Owns what cannot be judged: a known statement that is refused, fails, gives no row, or more rows than the cap.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from engine.findings.admit import Rejection, admitted
from engine.judge.result_equivalence import Reference, ordered, same_result, with_keys
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, NLError, NoRouteError
from engine.values.evaluation import EvaluateRequest
from engine.values.messages import Asker, AskRequest
from engine.values.ports import StatementError
from engine.values.settings import Limits
from engine.values.state import Route, State
from engine.values.tools import Tools

JUDGED_SECONDS = 10.0
"""A candidate that runs longer counts as wrong."""


class UnjudgeableError(Exception):
    """The known statement gives no reference result; the message says why."""


@dataclass(frozen=True, slots=True)
class Known:
    """A question about to be asked as its asker would: the state it begins with, where, and what is right."""

    state: State
    route: Route
    right: Reference


async def known(request: EvaluateRequest, tools: Tools, limits: Limits) -> Known:
    """Of a question whose answer is known; raises `NoRouteError`, `UnjudgeableError` and `InvalidSettingError`."""
    started, k = time.monotonic(), limits.width(request.k)
    route = await readable_route(request.database, request.asker, tools)
    asker = replace(request.asker, dbname=route.database.dbname)
    state = State(
        AskRequest(asker, request.question, k=k, db=request.database if request.named else None),
        Question(request.question),
        k=k,
        calls=max(limits.calls, k),
        deadline=Deadline(started + limits.timeout),
        started=started,
    )
    return Known(state, route, await reference_result(request.sql, route, state, tools, limits.row_cap))


async def readable_route(name: str, asker: Asker, tools: Tools) -> Route:
    """The database as `asker` may read it; raises `NoRouteError` where it is not registered or not readable."""
    for database, snapshot in await tools.catalog.entries():
        if database.name == name:
            readable = await tools.upstream.readable(database, asker)
            if readable:
                return Route(database, snapshot.restricted_to(readable), 1.0, ())
    raise NoRouteError(
        f'database "{name}" is not registered, or nothing of it may be read by "{asker.user}"',
        hint="pgparley catalog list shows the names; --user says who asks.",
    )


async def reference_result(sql: str, route: Route, state: State, tools: Tools, row_cap: int) -> Reference:
    """The result of the known statement, checked and run as a generated one; raises `UnjudgeableError`."""
    outcome = await admitted(Candidate(route.database.name, sql), replace(state, routes=(route,)), tools)
    if isinstance(outcome, Rejection):
        raise UnjudgeableError(f"its statement is refused: {outcome.message}")
    asked = (route.database, state.ask.asker)
    try:
        result = await tools.upstream.run(*asked, outcome.sql, row_cap, state.deadline)
    except (StatementError, CancelledError) as problem:
        raise UnjudgeableError(f"its statement fails: {problem}") from problem
    if not result.rows:
        raise UnjudgeableError("its statement gives no row, and so would many wrong ones")
    if result.truncated:
        raise UnjudgeableError(f"its statement gives more than {row_cap} rows")
    if not ordered(outcome.sql):
        return Reference.unordered(result)
    keyed = with_keys(outcome.sql)
    if keyed is None:
        return Reference.in_order(result)
    try:
        tied = await tools.upstream.run(*asked, keyed.sql, row_cap, state.deadline)
    except StatementError:
        return Reference.in_order(result)
    if tied.truncated:
        return Reference.in_order(result)
    return Reference.by_keys(tied, keyed.keys, keyed.added, keyed.most)


async def has_its_result(candidate: Candidate, asked: Known, tools: Tools) -> bool:
    """Whether `candidate`, run as the asker, gives the rows that are right; a failure is none."""
    database, right = asked.route.database, asked.right
    if candidate.database != database.name:
        return False
    deadline = Deadline(time.monotonic() + JUDGED_SECONDS)
    try:
        # One row more than the right result has shows that there are too many.
        found = await tools.upstream.run(
            database, asked.state.ask.asker, candidate.sql, right.take + 1, deadline
        )
    except (StatementError, NLError):
        return False
    return same_result(right, replace(found, truncated=False))
