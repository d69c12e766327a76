"""`NL CORRECT`: the asker gives the right statement.

Owns the choice of the database that a correction is for. A correction is kept only where it passes the checks of a
generated statement.
"""

from __future__ import annotations

import time
from dataclasses import replace

from engine.app.answer_rows import candidate_row
from engine.app.question_store import Questions
from engine.findings.admit import Cause, Rejection, admitted
from engine.question.question import Question
from engine.statement.description import describe
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.dialogue import Stored
from engine.values.errors import CancelledError, NLError, NoRouteError, SyntaxProblemError, UnsafeSQLError
from engine.values.messages import AskReply, CorrectRequest
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.types import Database


async def corrected(
    request: CorrectRequest, tools: Tools, questions: Questions, deadline: Deadline
) -> AskReply:
    """Keeps the correction as the answer's last row, of kind `verified`; the reply holds that row alone.

    Raises `UnknownQuestionError`; `NoRouteError` where no database can be meant; where every database refuses it, what
    the first one says: `UnsafeSQLError`, `SyntaxProblemError` or `CancelledError`.
    """
    reply, good = await with_row(request, tools, questions, deadline)
    await questions.corrected(reply, good.database, good.sql)
    return replace(reply, rows=reply.rows[-1:])


async def with_row(
    request: CorrectRequest, tools: Tools, questions: Questions, deadline: Deadline
) -> tuple[AskReply, Candidate]:
    """The stored answer with the statement as its last row, checked as the asker; raises as `corrected`."""
    stored = await questions.stored(request.qid, request.asker.owner)
    routes = await _routes(request, stored, tools)
    asked = replace(stored.request, asker=request.asker)
    question, started = Question(asked.question), time.monotonic()
    state = State(asked, question, k=1, calls=0, deadline=deadline, started=started, routes=routes)
    outcomes = [await admitted(Candidate(route.database.name, request.sql), state, tools) for route in routes]
    good = next((outcome for outcome in outcomes if isinstance(outcome, Candidate)), None)
    if good is None:
        raise _refused(next(outcome for outcome in outcomes if isinstance(outcome, Rejection)))
    number = max((row.n for row in stored.reply.rows), default=0) + 1
    explained = replace(good, explanation=describe(good.sql))
    row = candidate_row(number, explained, stored.reply.qid, verified=True)
    return replace(stored.reply, rows=(*stored.reply.rows, row)), good


async def _routes(request: CorrectRequest, stored: Stored, tools: Tools) -> tuple[Route, ...]:
    """The databases that may be meant, as the asker sees them; raises `NoRouteError` where none is readable."""
    entries = {database.name: (database, snapshot) for database, snapshot in await tools.catalog.entries()}
    routes: list[Route] = []
    for name in _meant(request, stored, [database for database, _ in entries.values()]):
        database, snapshot = entries.get(name, (None, None))
        if database is None or snapshot is None:
            continue
        readable = await tools.upstream.readable(database, request.asker, snapshot)
        if readable:
            routes.append(Route(database, snapshot.restricted_to(readable), 1.0, ()))
    if not routes:
        raise NoRouteError.told(wording.CORRECTION_NOWHERE)
    return tuple(routes)


def _meant(request: CorrectRequest, stored: Stored, databases: list[Database]) -> list[str]:
    named = request.db or stored.request.db
    if named is not None:
        return [named]
    answered = dict.fromkeys(row.database for row in stored.reply.rows if row.database is not None)
    own = [each.name for each in databases if each.dbname == request.asker.dbname]
    return list(answered or stored.reply.databases) or own or [each.name for each in databases]


def _refused(rejection: Rejection) -> NLError:
    detail = f"{rejection.message[:1].upper()}{rejection.message[1:]}."
    if rejection.cause is Cause.GUARD:
        return UnsafeSQLError.told(wording.CORRECTION_REFUSED, why=detail)
    if rejection.cause is Cause.TIME:
        return CancelledError.told(wording.CORRECTION_LATE, why=detail)
    return SyntaxProblemError.told(wording.CORRECTION_FAILS, why=detail)
