"""The engine's verbs for a gateway: ask, answer, none, more, choose, plan, correct, topic, show.

Knows neither HTTP nor SQL text. Topics are answered by `engine.app.introspection`, corrections by
`engine.app.corrections`; what the next turn of a dialogue goes on with is `engine.app.dialogues`' to say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace

from engine.app import introspection, pipeline
from engine.app.admission import Admission, Allowance
from engine.app.answer_rows import answer_rows, out_of_time
from engine.app.bill import bill
from engine.app.corrections import corrected
from engine.app.dialogues import after_answer, after_more, after_rejection, check_has_statements, in_dialogue
from engine.app.prompt_log import RecordingModel
from engine.app.prompt_preview import preview
from engine.app.question_store import Questions, find_row
from engine.app.repeats import Keys, Repeats, is_repeatable
from engine.app.stewards_word import answered_since
from engine.ask.explanation import explained
from engine.judge.point_store import CalibrationStore
from engine.learn.feedback import Learner
from engine.question.question import Question
from engine.statement.read import normal_form
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.dialogue import Dialogue
from engine.values.errors import (
    CostlyError,
    ModelUnavailableError,
    ReportedError,
    SyntaxProblemError,
    UnknownQuestionError,
)
from engine.values.messages import (
    AnswerRequest,
    AnswerRow,
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    CorrectRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    PromptReply,
    ResultColumn,
    RowSet,
    ShowRequest,
    TopicRequest,
)
from engine.values.ports import StatementError
from engine.values.settings import Limits, Strategy
from engine.values.state import State
from engine.values.tools import Tools
from engine.values.tracing import traced
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.quotas import QuotaStore
from schema_catalog.types import Database

_STAGES = tuple(traced(stage) for stage in pipeline.STAGES)


class Service:
    """The verbs. Every failure is an `NLError`."""

    def __init__(
        self,
        tools: Tools,
        questions: Questions,
        limits: Limits,
        points: CalibrationStore | None = None,
        learner: Learner | None = None,
        *,
        quotas: QuotaStore | None = None,
        repeats: Repeats | None = None,
    ) -> None:
        """`points`, `learner`: where choices become calibration points and feedback; None switches that off.

        `repeats`: by which an answer is given again; None: every question is answered anew.
        `quotas`: how many questions an hour and tokens a day each asker has; None: as many as they like.
        """
        self._repeats = repeats
        self._allowance = None if quotas is None else Allowance(quotas)
        self._tools = tools
        self._points = points
        self._learner = learner
        self._questions = questions
        self._limits = limits
        self.admission = Admission(limits.concurrent)
        # Statements need no model: they have places of their own, and wait for no question.
        self.statements = Admission(limits.concurrent)

    async def ask(self, request: AskRequest) -> AskReply:
        """Answers a question and stores the answer; the same one again gets the answer that it had.

        Raises `BusyError` where its turn comes too late, `QuotaError` where the asker had as many as they may in an
        hour, or tokens as they may in a day, and `NotPermittedError` where they may not ask at all. So does every
        method that answers anew.
        """
        self._check(request)
        started = time.monotonic()
        by_model = self._tools.strategy is Strategy.READINGS
        request, dialogue = await in_dialogue(request, self._questions, by_model=by_model)
        if self._repeats is None:
            return await self._asked(request, dialogue, started)
        keys, known = Keys(), None
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds(request)):
                keys = await self._repeats.keys(request, dialogue, self._tools, self._questions)
                known = await self._repeats.known(request, keys, self._questions)
        if known is None:
            return await self._asked(request, dialogue, started, keys)
        async with self._allowed(request.asker):
            return await self._told(replace(known, seconds=time.monotonic() - started), request.asker)

    async def prompt(self, request: AskRequest) -> PromptReply:
        """What the model would be sent for a question. It is not asked, and nothing is stored."""
        self._check(request)
        async with self.admission.place(request.asker.user, self._seconds(request)):
            return await preview(request, self._tools, self._limits)

    async def answer(self, request: AnswerRequest) -> AskReply:
        """Answers a question whose asker was asked back, and has answered. Raises as `after_answer`."""
        stored = await self._questions.stored(request.qid, request.asker.owner)
        return await self._asked(*after_answer(stored, request))

    async def none(self, request: NoneRequest) -> AskReply:
        """The same question, after its asker has rejected everything that was shown."""
        stored = await self._questions.stored(request.qid, request.asker.owner)
        await self._questions.none_fits(request.qid, request.asker.owner, request.why, send=request.send)
        if self._learner is not None:
            with _stored():
                await self._learner.rejected(stored)
        return await self._asked(*after_rejection(stored, request))

    async def more(self, request: MoreRequest) -> AskReply:
        """The same question again, without the statements shown by this answer and those before it."""
        stored = await self._questions.stored(request.qid, request.asker.owner)
        return await self._asked(*after_more(stored, request))

    async def _asked(
        self, request: AskRequest, dialogue: Dialogue, started: float | None = None, keys: Keys | None = None
    ) -> AskReply:
        model = RecordingModel(self._tools.model)
        started = started or time.monotonic()
        request = await self._within_session(request)
        place = self.admission.place(request.asker.user, self._seconds(request))
        async with place, self._allowed(request.asker, model):
            begun = replace(self._state(request, started), dialogue=dialogue)
            state = await pipeline.run(begun, replace(self._tools, model=model), _STAGES)
        state = await asyncio.to_thread(explained, state)
        qid = self._questions.new_qid()
        verified = [] if state.verified is None else [state.verified]
        members = (*verified, *await asyncio.to_thread(_wanted, state))
        unread = state.doubtful or state.late or state.dialogue.pending is not None
        rows = answer_rows(state, members[: self._limits.width(request.k)], qid)
        reply = AskReply(
            qid=qid,
            rows=rows,
            trace=state.trace,
            timings=state.timings,
            usage=state.usage,
            seconds=time.monotonic() - started,
            # What rules put beside a model's reading as less likely keeps it from running no more.
            members=0 if unread else sum(each.may_run_instead for each in members),
            key=keys.of(dialogue, state.dialogue) if keys is not None and is_repeatable(state) else "",
            databases=tuple(route.database.name for route in state.routes),
            notices=tuple(_notices(state, rows, model.hidden)),
        )
        await self._questions.save(request, reply, model.sent, replace(state.dialogue, local=state.local))
        if self._points is not None and state.selection is not None and _calibrates(state):
            with _stored():
                await self._points.answered(qid, state.selection)
        return await self._told(reply, request.asker)

    async def _told(self, reply: AskReply, asker: Asker) -> AskReply:
        """With what a steward has answered of the asker's since."""
        told = await answered_since(asker, self._tools, self._questions)
        return replace(reply, notices=(*reply.notices, *told)) if told else reply

    async def _within_session(self, request: AskRequest) -> AskRequest:
        """The request, which may take no longer than the `statement_timeout` of the session that asks."""
        own = await self._tools.upstream.session_timeout(request.asker)
        return request if own is None else replace(request, timeout=min(own, self._seconds(request)))

    @asynccontextmanager
    async def _allowed(self, asker: Asker, model: RecordingModel | None = None) -> AsyncIterator[None]:
        """A question that the asker may ask; what it cost by its end, however it ends, is added to their day."""
        if self._allowance is None:
            yield
            return
        with _stored():
            await self._allowance.admit(asker)
        try:
            yield
        finally:
            if model is not None:
                await self._allowance.spend(asker, model.usage)

    async def choose(self, request: ChooseRequest) -> Chosen:
        """The chosen statement, run as the asker where it cannot run in their session.

        Raises `ReportedError` with the server's error, and `CostlyError`.
        """
        async with self._turn(request) as deadline:
            row, database, sql = await self._statement(request)
            if (costly := await self._bill(database, request, sql, deadline)) is not None:
                raise costly
            chosen = await self._in_place(database, request.asker, sql, deadline)
            chosen = chosen or await self._ran(database, request, sql, deadline)
        if request.learn:
            await self._questions.chosen(row.qid, row.n)
            with _stored():
                if self._points is not None:
                    await self._points.chosen(row.qid, row.n)
                if self._learner is not None:
                    stored = await self._questions.stored(row.qid, request.asker.owner)
                    await self._learner.chose(stored, row, request.asker)
        return chosen

    async def plan(self, request: PlanRequest) -> Chosen:
        """The EXPLAIN of a row's statement: to be run in place, or its lines where it belongs elsewhere."""
        async with self._turn(request) as deadline:
            _, database, sql = await self._statement(request)
            costly = await self._bill(database, request, sql, deadline)
            costs = "" if costly is None else f"{costly.message}: {costly.detail} {costly.hint}"
            chosen = await self._in_place(database, request.asker, sql, deadline)
            if chosen is not None:
                return replace(chosen, sql=f"EXPLAIN {chosen.sql}", costs=costs)
            with _reported():
                lines = await self._tools.upstream.plan(database, request.asker, sql, deadline)
        columns, rows = (ResultColumn("QUERY PLAN", "text"),), tuple((line,) for line in lines)
        return Chosen(database.name, sql, in_place=False, columns=columns, rows=rows, costs=costs)

    async def _bill(
        self, database: Database, request: ChooseRequest | PlanRequest, sql: str, deadline: Deadline
    ) -> CostlyError | None:
        """What is told of a statement that the planner puts above what runs untold."""
        limit = self._limits.choosing(database.name, request.asker.user)
        anyway = isinstance(request, ChooseRequest) and request.anyway and limit.anyway
        if not limit.cost or anyway:
            return None
        with _reported():
            cost = await self._tools.upstream.explain(database, request.asker, sql, deadline, chosen=True)
        return bill(cost, limit, request.qid, request.n) if cost > limit.cost else None

    async def correct(self, request: CorrectRequest) -> AskReply:
        """Checks a correction as the asker and stores it as the answer's last row. Raises as `corrected` and `ask`."""
        shown = await self._questions.stored(request.qid, request.asker.owner)
        async with self._turn(request) as deadline, self._allowed(request.asker):
            reply = await corrected(request, self._tools, self._questions, deadline)
        (row,) = reply.rows
        if self._learner is not None and row.database is not None and row.sql is not None:
            with _stored():
                await self._learner.corrected(shown, row.database, row.sql, request.asker)
        return reply

    async def topic(self, request: TopicRequest) -> RowSet:
        """The rows of a topic. Raises as `introspect`."""
        return await introspection.introspect(request, self._questions, self._tools)

    async def show(self, request: ShowRequest) -> AskReply:
        """The stored answer, or one row of it."""
        reply = await self._questions.get(request.qid, request.asker.owner)
        return reply if request.n is None else replace(reply, rows=(find_row(reply, request.n),))

    def _check(self, request: AskRequest) -> None:
        longest = self._limits.question_characters
        if not request.question.strip():
            raise SyntaxProblemError.told(wording.EMPTY_QUESTION)
        if len(request.question) > longest:
            length = len(request.question)
            raise SyntaxProblemError.told(wording.LONG_QUESTION, characters=length, most=longest)
        self._limits.width(request.k)

    def _seconds(self, request: AskRequest | ChooseRequest | PlanRequest | CorrectRequest) -> float:
        """What a request may take, the wait for its turn included."""
        return min(request.timeout or self._limits.timeout, self._limits.timeout)

    def _state(self, request: AskRequest, started: float) -> State:
        k = self._limits.width(request.k) + len(request.exclude)
        # Whether a set has one member shows when a second one is looked for.
        k = max(k, 2) if request.run else k
        return State(
            ask=request,
            question=Question(request.question),
            k=k,
            calls=max(self._limits.calls, k),
            deadline=Deadline(started + self._seconds(request)),
            started=started,
        )

    async def _statement(self, request: ChooseRequest | PlanRequest) -> tuple[AnswerRow, Database, str]:
        """The row that a request names, its database and its statement."""
        reply = await self._questions.get(request.qid, request.asker.owner)
        check_has_statements(reply)
        row = find_row(reply, request.n)
        if row.sql is None or row.database is None:
            raise SyntaxProblemError.told(wording.NO_STATEMENT, n=row.n, qid=reply.qid)
        return row, await self._database(row.database), row.sql

    async def _database(self, name: str) -> Database:
        for database, _ in await self._tools.catalog.entries():
            if database.name == name:
                return database
        raise UnknownQuestionError.told(wording.DATABASE_GONE, name=name)

    @asynccontextmanager
    async def _turn(self, request: ChooseRequest | PlanRequest | CorrectRequest) -> AsyncIterator[Deadline]:
        """A place among the statements, and until when."""
        seconds = self._seconds(request)
        deadline = Deadline(time.monotonic() + seconds)
        async with self.statements.place(request.asker.user, seconds):
            yield deadline

    async def _in_place(
        self, database: Database, asker: Asker, sql: str, deadline: Deadline
    ) -> Chosen | None:
        with _reported():
            text = await self._tools.upstream.in_place(database, asker, sql, deadline)
        return None if text is None else Chosen(database.name, text, in_place=True)

    async def _ran(self, database: Database, request: ChooseRequest, sql: str, deadline: Deadline) -> Chosen:
        upstream, asker = self._tools.upstream, request.asker
        own = await upstream.is_own(database, asker)
        with _reported():
            result = await upstream.run(database, asker, sql, self._limits.row_cap, deadline, chosen=True)
        return Chosen(
            database.name,
            sql,
            in_place=False,
            columns=tuple(ResultColumn(name, type_) for name, type_ in result.columns),
            rows=result.rows,
            truncated=result.truncated,
            shortened=result.shortened,
            own=own,
        )


@contextmanager
def _reported() -> Iterator[None]:
    """PostgreSQL's error on a statement as `ReportedError`."""
    try:
        yield
    except StatementError as problem:
        reply = ErrorReply(problem.sqlstate, problem.message, problem.detail, problem.hint)
        raise ReportedError(reply) from problem


@contextmanager
def _stored() -> Iterator[None]:
    try:
        yield
    except StoreUnavailableError as problem:
        raise ModelUnavailableError.told(wording.STORE_AWAY) from problem


def _notices(state: State, rows: Sequence[AnswerRow], hidden: str) -> Iterator[str]:
    if state.late:
        yield out_of_time(rows)
    if hidden:
        yield wording.HIDDEN_FROM_MODEL.format(hidden)


def _calibrates(state: State) -> bool:
    """Whether a choice from this answer may calibrate.

    Personal feedback and what was asked before are part of no recipe: such questions are not exchangeable with those
    that calibrate.
    """
    personal = any(route.learned.personal for route in state.routes)
    plain = state.dialogue.pending is None and state.dialogue.follow_up is None
    return not (state.late or personal) and state.verified is None and plain


def _wanted(state: State) -> tuple[Candidate, ...]:
    """The candidates without the normal forms of excluded statements. Parses them: not for the event loop."""
    if not state.ask.exclude:
        return state.candidates
    excluded = {normal_form(sql, route) for route in state.routes for sql in state.ask.exclude}
    forms = ((each, normal_form(each.sql, state.route_of(each.database))) for each in state.candidates)
    return tuple(each for each, form in forms if form not in excluded)
