"""What the engine does for a gateway: ask, choose, show.

Owns how a pipeline's outcome becomes rows, and what a choice needs. Knows neither HTTP nor SQL text.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from engine import pipeline
from engine.errors import (
    InternalError,
    InvalidSettingError,
    QuotaError,
    ReportedError,
    SyntaxProblemError,
    UnknownQuestionError,
)
from engine.questions import Questions
from engine.settings import Limits
from engine.state import Candidate, Deadline, Result, State, StatementError, Tools
from engine.types import (
    AnswerRow,
    AskReply,
    AskRequest,
    Chosen,
    ChooseRequest,
    ErrorReply,
    ResultColumn,
    RowKind,
    ShowRequest,
)
from schema_catalog.types import Database

IN_PLACE_PATH = ("public",)
"""The search path under which a statement means the same in the asker's own session."""


class Service:
    """The three verbs. Every failure is an `NLError`."""

    def __init__(self, tools: Tools, questions: Questions, limits: Limits) -> None:
        self._tools = tools
        self._questions = questions
        self._limits = limits
        self._places = asyncio.Semaphore(limits.concurrent)

    async def ask(self, request: AskRequest) -> AskReply:
        """Answers a question and keeps the answer."""
        self._check(request)
        if self._places.locked():
            raise QuotaError(
                "too many questions at once",
                detail=f"The engine answers {self._limits.concurrent} at a time.",
                hint="Ask again in a moment; operators: raise [limits] concurrent.",
            )
        async with self._places:
            started = time.monotonic()
            state = await pipeline.run(self._state(request, started), self._tools)
        qid = self._questions.new_qid()
        reply = AskReply(
            qid=qid,
            rows=_rows(state, qid),
            trace=state.trace,
            timings=state.timings,
            usage=state.usage,
            seconds=time.monotonic() - started,
        )
        await self._questions.save(request, reply)
        return reply

    async def choose(self, request: ChooseRequest) -> Chosen:
        """The chosen statement; run as the asker where it belongs to another database than theirs."""
        reply = await self._questions.get(request.qid, request.asker.user)
        row = _row(reply, request.n)
        if row.sql is None or row.database is None:
            raise SyntaxProblemError(
                f"row {row.n} of {reply.qid} is no statement", hint="Ask again with other words, or NL HELP."
            )
        database = await self._database(row.database)
        if database.dbname == request.asker.dbname and database.search_path == IN_PLACE_PATH:
            chosen = Chosen(database.name, row.sql, in_place=True)
        else:
            chosen = _ran(database, row.sql, await self._run(database, request.asker.user, row.sql))
        await self._questions.chosen(reply.qid, row.n)
        return chosen

    async def show(self, request: ShowRequest) -> AskReply:
        """The stored answer, or one row of it."""
        reply = await self._questions.get(request.qid, request.asker.user)
        return reply if request.n is None else replace(reply, rows=(_row(reply, request.n),))

    def _check(self, request: AskRequest) -> None:
        longest = self._limits.question_characters
        if not request.question.strip():
            raise SyntaxProblemError("the question is empty", hint="NL: how many … ?")
        if len(request.question) > longest:
            raise SyntaxProblemError(
                "the question is too long", detail=f"It has {len(request.question)} characters of at most {longest}."
            )
        if request.k is not None and not 1 <= request.k <= self._limits.k_max:
            raise InvalidSettingError(f"k is {request.k}", hint=f"k is from 1 to {self._limits.k_max}.")

    def _state(self, request: AskRequest, started: float) -> State:
        seconds = min(request.timeout or self._limits.timeout, self._limits.timeout)
        return State(
            ask=request,
            k=request.k or self._limits.k,
            calls=max(self._limits.calls, request.k or 0),
            deadline=Deadline(started + seconds),
            started=started,
        )

    async def _database(self, name: str) -> Database:
        for database, _ in await self._tools.catalog.entries():
            if database.name == name:
                return database
        raise UnknownQuestionError(
            f'database "{name}" is no longer registered', hint="Ask again: the catalog has changed."
        )

    async def _run(self, database: Database, role: str, sql: str) -> Result:
        deadline = Deadline(time.monotonic() + self._limits.timeout)
        try:
            return await self._tools.upstream.run(database, role, sql, self._limits.row_cap, deadline)
        except StatementError as problem:
            reply = ErrorReply(problem.sqlstate, problem.message, problem.detail, problem.hint)
            raise ReportedError(reply) from problem


def _rows(state: State, qid: str) -> tuple[AnswerRow, ...]:
    shown = state.candidates[: state.k]
    if not shown:
        return (_abstained(state, qid),)
    return tuple(_candidate(number, candidate, qid) for number, candidate in enumerate(shown, 1))


def _candidate(number: int, candidate: Candidate, qid: str) -> AnswerRow:
    return AnswerRow(
        n=number,
        kind=RowKind.CANDIDATE,
        database=candidate.database,
        confidence=round(candidate.confidence, 3),
        sql=candidate.sql,
        explanation=candidate.explanation,
        next=f"NL CHOOSE {number} OF '{qid}'",
        qid=qid,
    )


def _abstained(state: State, qid: str) -> AnswerRow:
    """Why there is no candidate, and what would help: no guess is shown."""
    if not state.routes:
        why = "No database that you may read seems to hold this. Name what you look for as its tables and columns do"
    else:
        names = ", ".join(route.database.name for route in state.routes)
        why = f"No statement on {names} stood every check. Name the table or column you mean, or ask a smaller part"
    return AnswerRow(1, RowKind.ABSTAIN, None, None, None, why, "NL HELP", qid)


def _row(reply: AskReply, number: int) -> AnswerRow:
    for row in reply.rows:
        if row.n == number:
            return row
    raise InvalidSettingError(
        f"question {reply.qid} has no row {number}",
        detail=f"It has {len(reply.rows)}.",
        hint=f"NL SHOW OF '{reply.qid}' shows them.",
    )


def _ran(database: Database, sql: str, result: Result) -> Chosen:
    columns = tuple(ResultColumn(name, type_) for name, type_ in result.columns)
    return Chosen(database.name, sql, in_place=False, columns=columns, rows=result.rows, truncated=result.truncated)


def as_reply(problem: Exception) -> InternalError:
    """An unexpected exception as the error a user may see: nothing of it but that it happened."""
    return InternalError(
        "the engine failed on this question",
        detail=type(problem).__name__,
        hint="The engine's log has the whole error; plain SQL is not affected.",
    )
