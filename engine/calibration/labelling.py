"""Labels a question with a known answer: runs the pipeline without selection and compares every candidate's result.

A question is skipped where the known statement fails, gives no row, or gives more rows than the cap.
"""

from __future__ import annotations

import time
from dataclasses import replace

from engine import pipeline
from engine.calibration.known_statement import (
    UnjudgeableError,
    has_its_result,
    readable_route,
    reference_result,
)
from engine.calibration.records import Judged, Point
from engine.calibration.splits import id_hash
from engine.calibration.store import CalibrationStore, Source, StoredPoint
from engine.calibration.types import JudgeReply, JudgeRequest, Outcome
from engine.core.deadline import Deadline
from engine.core.defaults import NoCalibration
from engine.core.state import State
from engine.core.tools import Tools
from engine.errors import NLError, NoRouteError
from engine.settings import Limits
from engine.types import AskRequest


async def judge(request: JudgeRequest, tools: Tools, store: CalibrationStore, limits: Limits) -> JudgeReply:
    """Labels one question and keeps it as a point.

    Raises `NoRouteError` where its database is not registered or not readable, `StoreUnavailableError`, and
    `InvalidSettingError` where `k` is out of range.
    """
    started = time.monotonic()
    k = limits.width(request.k)
    question = id_hash(request.identity)
    if not request.again:
        for kept in await store.points():
            if (kept.point.question, kept.width) == (question, k):
                return _reply(Outcome.KNOWN, kept.point, started)
    state = State(
        AskRequest(request.asker, request.question, k=k, db=request.database if request.named else None),
        k=k,
        calls=max(limits.calls, k),
        deadline=Deadline(started + limits.timeout),
        started=started,
    )
    route = await readable_route(request.database, request.asker, tools)
    state = replace(state, ask=replace(state.ask, asker=replace(request.asker, dbname=route.database.dbname)))
    try:
        right = await reference_result(request.sql, route, state, tools, limits.row_cap)
    except UnjudgeableError as problem:
        return JudgeReply(Outcome.SKIPPED, str(problem), seconds=time.monotonic() - started)
    try:
        # A question that the asker would be asked back about, or not answered, has candidates to judge as well.
        state = await pipeline.run(
            state, replace(tools, calibration=NoCalibration()), pipeline.CANDIDATE_STAGES
        )
        # A verdict that came too late is no verdict, and no score to calibrate with.
        state.deadline.remaining()
    except NoRouteError:
        raise
    except NLError as problem:
        return JudgeReply(Outcome.SKIPPED, problem.message, seconds=time.monotonic() - started)
    judged = [
        Judged(
            await has_its_result(candidate, route.database, state, tools, right),
            candidate.scores,
        )
        for candidate in state.candidates[:k]
    ]
    group = state.routes[0].database.name if state.routes else route.database.name
    point = Point(question, group, tuple(judged))
    await store.keep(route.database.name, StoredPoint(Source(request.source), k, point))
    return _reply(Outcome.RIGHT if point.answerable else Outcome.WRONG, point, started)


def _reply(outcome: Outcome, point: Point, started: float) -> JudgeReply:
    rank = next((place for place, each in enumerate(point.candidates, 1) if each.right), None)
    return JudgeReply(
        outcome, candidates=len(point.candidates), rank=rank, seconds=time.monotonic() - started
    )
