"""A session's NL state, and for each kind of statement a generator of the engine requests that it takes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from engine.values.errors import (
    NLError,
    ReportedError,
    StalePlanError,
    UnknownQuestionError,
)
from engine.values.messages import (
    TOPIC_COLUMNS,
    Asker,
    AskReply,
    ChooseRequest,
    Chosen,
    CorrectRequest,
    EngineRequest,
    ErrorReply,
    NoneRequest,
    PlanRequest,
    RowKind,
    RowSet,
    ShowRequest,
    Topic,
    TopicRequest,
)
from proxy.protocol import notices, replacement_sql
from proxy.protocol.commands import EngineReply, verb
from proxy.protocol.encoding import require_valid
from proxy.protocol.nl import questions, settings
from proxy.protocol.nl.grammar import COMMANDS
from proxy.protocol.nl.persons import BehalfRules
from proxy.protocol.nl.settings import OutputMode, SettingValues
from proxy.protocol.nl.statements import (
    NOBODY,
    AnswerStatement,
    AnswerTopic,
    FollowUp,
    FollowUpRequest,
    NLQuestion,
    Option,
    RunCall,
    RunQuestion,
    SettingChange,
    SqlRequest,
    SqlStatement,
    TableStatement,
)
from proxy.protocol.replies import Allowance

_Reply = TypeVar("_Reply", AskReply, Chosen, RowSet)
_Request = TypeVar("_Request", bound=FollowUpRequest | SqlRequest)
_RUNNABLE = (RowKind.CANDIDATE, RowKind.VERIFIED)


@dataclass(frozen=True, slots=True)
class TranslationContext:
    """The session's state when a job starts. `failed`: the server is certain to refuse the first statement.

    `idle`: tells whether it has answered all by now.
    """

    failed: bool
    in_transaction: bool
    idle: Callable[[], bool]
    standard_strings: bool
    encoding: str

    @property
    def ascii_only(self) -> bool:
        """Whether JSON has to be escaped to survive the client's encoding."""
        return self.encoding != "utf-8"


@dataclass(frozen=True, slots=True)
class JSONRows:
    """Rows as JSON for the columns of their statement. `notice`: messages that go out with them."""

    json: str
    notice: bytes = b""


@dataclass(frozen=True, slots=True)
class ChosenStatement:
    """A statement of the engine's as SQL, which belongs to one answer; `notice` goes with every execution.

    `elsewhere`: the database that its rows are of, None in place. `last`: it named no answer, so that, where it is
    prepared, it goes stale with the next question. `timed`: its statement is run in place, and ends by `nl.timeout`,
    which `options` may give. `again`: what was asked for each statement that is in place, and the SQL that came: where
    it is prepared, the same is asked before each later execution.
    """

    sql: str
    qid: str = ""
    elsewhere: str | None = None
    notice: bytes = b""
    last: bool = False
    timed: bool = False
    options: tuple[Option, ...] = ()
    again: tuple[tuple[ChooseRequest | PlanRequest, str], ...] = ()


RowsJob = Generator[EngineRequest, EngineReply, JSONRows]
ChoiceJob = Generator[EngineRequest, EngineReply, ChosenStatement]
RunJob = Generator[EngineRequest, EngineReply, JSONRows | ChosenStatement]


class Conversation:
    """One session's. `statement_kinds` collects the kinds of statements for the metrics.

    `_after`: the last qid, as long as a follow-up may be read with it.
    """

    __slots__ = (
        "_after",
        "_login",
        "_max_chars",
        "_rules",
        "_seconds",
        "_unanswered",
        "_values",
        "last_qid",
        "statement_kinds",
    )

    def __init__(
        self,
        asker: Asker,
        values: tuple[tuple[str, str], ...],
        rules: BehalfRules,
        *,
        max_chars: int,
        seconds: float,
    ) -> None:
        self._login = asker
        self._rules = rules
        self._max_chars = max_chars
        self._seconds = seconds
        self._values = SettingValues(values)
        self.last_qid: str | None = None
        self._unanswered = False
        self._after: str | None = None
        self.statement_kinds: list[str] = []

    # -- settings

    @property
    def has_settings(self) -> bool:
        """Whether a setting differs from what the session started with, so that resetting matters."""
        return self._values.changed

    @property
    def _effective(self) -> dict[str, str]:
        return self._values.effective

    @property
    def _asker(self) -> Asker:
        """Who asks, and for whom; raises `NLError` where the login may not say so."""
        person = self._values.person
        if person:
            self._rules.check(self._login.user, person)
        return replace(self._login, person=person)

    def refusal(self, changes: tuple[SettingChange, ...]) -> NLError | None:
        """Why they are not to be applied, nor to reach the server."""
        return self._rules.refusal(
            self._login.user, changes, self._values.person, self._values.initial_person
        )

    def apply(self, changes: tuple[SettingChange, ...]) -> None:
        """Applies changes of settings."""
        person = self._values.person
        self._values.apply(changes)
        if any(change.name is None for change in changes):
            # So pools hand a connection to the next user.
            self._after = None
        if person != self._values.person:
            self.last_qid = self._after = None

    def transaction_ended(self) -> None:
        """SET LOCAL ends with its transaction."""
        self._values.end_local()

    def runs(self, question: NLQuestion) -> bool:
        """Whether a plain question is to be run (`nl.mode`); raises `InvalidSettingError`."""
        return settings.runs(question, self._effective)

    # -- statements that give rows

    def rows(self, statement: AnswerStatement | TableStatement, context: TranslationContext) -> RowsJob:
        """The rows of a statement whose columns are fixed."""
        if isinstance(statement, NLQuestion):
            return (yield from self.ask(statement, context, "question", settings_apply=True))
        if isinstance(statement, TableStatement):
            return (yield from self._topic_rows(statement, context))
        self.statement_kinds.append(verb(statement.request))
        output, strict = settings.output(self._effective), settings.raises_on_abstain(self._effective)
        reply = self._answer((yield from _consult(self._follow_up(statement))))
        # What is stored is shown as it is: the way to see again what an error has told of.
        if strict and not isinstance(statement.request, ShowRequest):
            notices.refuse_unanswered(reply.rows, in_transaction=context.in_transaction)
        return self._rows(self._shortened(reply), output, context)

    def _follow_up(self, statement: FollowUp) -> FollowUpRequest:
        request = self._addressed(statement.request, statement.qid)
        if isinstance(request, CorrectRequest):
            return replace(request, db=self._effective.get("db") or None)
        if isinstance(request, NoneRequest):
            return replace(request, send=request.send or settings.sends(self._effective))
        return request

    def _addressed(self, request: _Request, qid: str | None) -> _Request:
        request = replace(request, asker=self._asker, qid=self._qid(qid))
        if isinstance(request, ShowRequest):
            return request
        return replace(request, timeout=settings.timeout(self._effective))

    def ask(
        self, question: NLQuestion, context: TranslationContext, kind: str, *, settings_apply: bool = False
    ) -> RowsJob:
        """The answer to a question; `settings_apply`: `nl.output` counts, as it does not inside of SQL."""
        self.statement_kinds.append(kind)
        reply = yield from self._question_reply(question, context)
        output = settings.output(self._effective, question.options) if settings_apply else OutputMode.ROWS
        # Rows inside of SQL may be kept, and pasted when another question is the last one.
        return self._rows(self._shortened(reply) if settings_apply else reply, output, context)

    def _question_reply(
        self, question: NLQuestion, context: TranslationContext, *, run: bool = False
    ) -> Generator[EngineRequest, EngineReply, AskReply]:
        after = self._after
        self.unanswered()
        text = questions.checked_question(question.text, self._max_chars)
        strict = settings.raises_on_abstain(self._effective, question.options)
        settings.output(self._effective, question.options)
        request = settings.request(self._asker, replace(question, text=text), self._effective, after)
        reply = self._answer((yield from _consult(replace(request, run=run))))
        if strict:
            notices.refuse_unanswered(reply.rows, in_transaction=context.in_transaction)
        return reply

    def _topic_rows(self, statement: TableStatement, context: TranslationContext) -> RowsJob:
        self.statement_kinds.append(statement.topic)
        qid = self._qid(statement.qid) if isinstance(statement, AnswerTopic) else None
        request = TopicRequest(self._asker, statement.topic, qid, statement.n)
        reply = yield from _consult(request)
        if statement.topic is Topic.HELP:
            # What can be said is known without the engine, which knows what can be asked here.
            questions = reply.rows if isinstance(reply, RowSet) else ()
            reply = RowSet((*COMMANDS, *questions))
        table = _as(RowSet, reply)
        if statement.topic is Topic.FORGET and request.qid in (None, self.last_qid):
            self.last_qid, self._after, self._unanswered = None, None, False
        columns = TOPIC_COLUMNS[statement.topic]
        return JSONRows(replacement_sql.cells_json(columns, table.rows, ascii_only=context.ascii_only))

    def unanswered(self) -> None:
        """A question has no answer, or none yet: what names no answer must not mean that of an earlier one."""
        self.last_qid, self._after, self._unanswered = None, None, True

    def _answer(self, reply: EngineReply) -> AskReply:
        answer = _as(AskReply, reply)
        self.last_qid = self._after = answer.qid
        return answer

    def _shortened(self, reply: AskReply) -> AskReply:
        """The reply, whose steps need not name the connection's last answer."""
        rows = (replace(row, next=row.next and self._unnamed(row.next)) for row in reply.rows)
        return replace(reply, rows=tuple(rows))

    def _unnamed(self, steps: str) -> str:
        """`steps`, where they need not name the connection's last answer."""
        return steps.replace(f" OF '{self.last_qid}'", "")

    @staticmethod
    def _rows(reply: AskReply, output: OutputMode, context: TranslationContext) -> JSONRows:
        rows = () if output is OutputMode.NOTICES else reply.rows
        notice = b"" if output is OutputMode.ROWS else notices.answer(reply, context.encoding)
        notice = notices.beside(reply, context.encoding) + notice
        return JSONRows(replacement_sql.rows_json(rows, ascii_only=context.ascii_only), notice)

    # -- statements that are SQL of the engine's

    def run(self, run: RunQuestion, context: TranslationContext) -> RunJob:
        """The result of the only statement that stood, or the answer's rows where it is not the only one."""
        self.statement_kinds.append("run")
        output = settings.output(self._effective, run.question.options)
        reply = yield from self._question_reply(run.question, context, run=True)
        first = reply.rows[0] if reply.rows else None
        if reply.members != 1 or first is None or first.kind not in _RUNNABLE:
            return self._rows(self._shortened(reply), output, context)
        allowed = settings.timeout(self._effective, run.question.options)
        request = ChooseRequest(self._asker, reply.qid, first.n, learn=False, timeout=allowed)
        return replace((yield from self._chosen(request, context)), options=run.question.options)

    def statement(self, statement: SqlStatement, context: TranslationContext) -> ChoiceJob:
        """The SQL of a row that the user named."""
        self.statement_kinds.append(verb(statement.request))
        request = self._addressed(statement.request, statement.qid)
        if isinstance(request, ChooseRequest):
            found = yield from self._chosen(request, context)
            return replace(found, last=statement.qid is None)
        chosen = yield from self._found(request)
        sql = replacement_sql.chosen_query(chosen, ascii_only=context.ascii_only)
        notice = notices.costs(self._unnamed(chosen.costs), context.encoding)
        # A plan of another database changes nothing there: it may stand in any transaction.
        again = _asked_again(request, chosen)
        return ChosenStatement(
            sql, request.qid, None, notice, last=statement.qid is None, timed=chosen.in_place, again=again
        )

    def run_call(self, call: RunCall, context: TranslationContext) -> ChoiceJob:
        """The SQL of the row that a call names."""
        self.statement_kinds.append("run_call")
        request = self._addressed(ChooseRequest(NOBODY, "", call.n), call.qid)
        return (yield from self._chosen(request, context))

    def _found(self, request: EngineRequest) -> Generator[EngineRequest, EngineReply, Chosen]:
        reply = yield from _consult(request)
        if isinstance(reply, ErrorReply) and reply.hint:
            reply = replace(reply, hint=self._unnamed(reply.hint))
        return _as(Chosen, reply)

    def _chosen(self, request: ChooseRequest, context: TranslationContext) -> ChoiceJob:
        chosen = yield from self._found(request)
        sql = replacement_sql.chosen_query(chosen, ascii_only=context.ascii_only)
        elsewhere = chosen.database if chosen.elsewhere else None
        notice, again = notices.truncation(chosen, context.encoding), _asked_again(request, chosen)
        return ChosenStatement(sql, request.qid, elsewhere, notice, timed=chosen.in_place, again=again)

    def confirm(self, pinned: ChosenStatement) -> Generator[EngineRequest, EngineReply, None]:
        """Has the engine look at what is in place once more; raises where it is refused or another statement now."""
        for request, sql in pinned.again:
            chosen = _as(Chosen, (yield from _consult(request)))
            if not chosen.in_place or chosen.sql != sql:
                raise StalePlanError(
                    "the prepared NL statement would be another one now",
                    detail="What its names mean has changed at the server.",
                    hint="Prepare it again.",
                )

    def allowance(self, choice: ChosenStatement) -> Allowance:
        """The time that a run of it may take, from now on; raises `InvalidSettingError`."""
        seconds = settings.timeout(self._effective, choice.options) or self._seconds
        return Allowance(seconds, seconds)

    def _qid(self, given: str | None) -> str:
        qid = given or self.last_qid
        if qid is not None:
            return qid
        hint = "Ask one first, or name an answer: NL CHOOSE 1 OF 'qid'."
        if self._unanswered:
            raise UnknownQuestionError(
                "the last question has no answer", hint=hint.replace("Ask one first", "Ask it again")
            )
        raise UnknownQuestionError("no question has been asked on this connection", hint=hint)


def _asked_again(
    request: ChooseRequest | PlanRequest, chosen: Chosen
) -> tuple[tuple[ChooseRequest | PlanRequest, str], ...]:
    if not chosen.in_place:
        return ()
    if isinstance(request, ChooseRequest):
        # A choice is learned from once.
        request = replace(request, learn=False)
    return ((request, chosen.sql),)


def _consult(request: EngineRequest) -> Generator[EngineRequest, EngineReply, EngineReply]:
    """The engine's reply; raises `SyntaxProblemError` where the request holds what is no text."""
    for part in (request, request.asker):
        for each in fields(part):
            if isinstance(value := getattr(part, each.name), str):
                require_valid(value)
    return (yield request)


def _as(kind: type[_Reply], reply: EngineReply) -> _Reply:
    """`reply`, which has to be of this kind; raises what the engine reported instead."""
    if isinstance(reply, ErrorReply):
        raise ReportedError(reply)
    if not isinstance(reply, kind):
        raise TypeError(reply)
    return reply
