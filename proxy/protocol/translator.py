"""Translates an NL message to the message that goes upstream in its place.

Each job is a generator without I/O: it yields `conversation`'s requests for the engine, is sent the replies, and
returns the message. Owns the places in a message, and the prepared statements that need a special treatment.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from engine.errors import NLError, ReportedError, StalePlanError, SyntaxProblemError, UnsupportedError
from engine.types import ANSWER_COLUMNS, TOPIC_COLUMNS, Asker, EngineRequest, ErrorReply
from proxy.protocol import codec, notices, replacement_sql
from proxy.protocol.backend import ExpectedError
from proxy.protocol.codec import Bind, Parse
from proxy.protocol.commands import EngineReply
from proxy.protocol.conversation import (
    ChosenStatement,
    Conversation,
    JSONRows,
    RowsJob,
    TranslationContext,
)
from proxy.protocol.encoding import decode, encode, unreadable
from proxy.protocol.nl import questions
from proxy.protocol.nl.statements import (
    AnswerStatement,
    AskCall,
    Examination,
    Finding,
    FollowUp,
    NLCall,
    NLQuestion,
    Parameter,
    Question,
    RunCall,
    RunQuestion,
    SqlStatement,
    TableStatement,
)
from proxy.protocol.replies import Allowance, Mark, StatementChange

RowStatement = AnswerStatement | TableStatement
"""Statements whose columns are fixed."""


@dataclass(frozen=True, slots=True)
class ParameterStatement:
    """A prepared statement whose parameter at `index` (from 0) is the JSON of its rows.

    `statement` None: the client's own parameter is the question. Otherwise the parameter is hidden from the
    client, behind its own ones. `call`: it is a call of `nl.ask` inside of SQL.
    """

    index: int
    statement: RowStatement | None
    call: bool = False

    @property
    def hidden(self) -> bool:
        """Whether the client does not know of the parameter."""
        return self.statement is not None


PreparedTreatment = ParameterStatement | ChosenStatement


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The message that goes upstream, and the mark for its reply."""

    message: bytes
    mark: Mark | None = None


Job = Generator[EngineRequest, EngineReply, Rewritten]


@dataclass(frozen=True, slots=True)
class _Replacement:
    """The SQL in place of a finding. `treatment`: of the prepared statement that it becomes a part of."""

    sql: str
    notice: bytes = b""
    treatment: PreparedTreatment | None = None


_ReplacementJob = Generator[EngineRequest, EngineReply, _Replacement]


class Translator:
    """The jobs of one session. `expected` collects the errors that the server will raise in our place."""

    __slots__ = ("_token", "_unnamed", "conversation", "expected", "fresh", "nl_prepared", "portals")

    def __init__(
        self, asker: Asker, values: tuple[tuple[str, str], ...], *, max_chars: int, seconds: float
    ) -> None:
        """`seconds`: what `nl.timeout` is where it is not set."""
        self.conversation = Conversation(asker, values, max_chars=max_chars, seconds=seconds)
        self._token = 0
        self._unnamed = b""
        self.nl_prepared: dict[bytes, PreparedTreatment] = {}
        self.expected: list[ExpectedError] = []
        self.portals: dict[bytes, Allowance] = {}
        """Portals of statements that end by `nl.timeout`."""
        self.fresh: ChosenStatement | None = None
        """Parsed since the last Sync: the engine has just looked at it."""

    # -- prepared statements

    def define(self, name: bytes, prepared: PreparedTreatment | None) -> StatementChange | None:
        """Sets the treatment of a prepared statement. Returns the change, None where there is none."""
        before = self.nl_prepared.pop(name, None)
        if prepared is not None:
            self.nl_prepared[name] = prepared
        return None if before is None and prepared is None else StatementChange(name, before, prepared)

    def undo(self, change: StatementChange, *, failed: bool) -> None:
        """The message that made `change` failed or was skipped. A failed unnamed Parse has destroyed the former."""
        if self.nl_prepared.get(change.name) is not change.after:
            return
        self.nl_prepared.pop(change.name, None)
        if isinstance(change.before, PreparedTreatment) and not (failed and not change.name):
            self.nl_prepared[change.name] = change.before

    @property
    def unnamed(self) -> bytes:
        """The Parse message that made the unnamed statement, where it is ours; another's Parse ends it."""
        return self._unnamed if b"" in self.nl_prepared else b""

    # -- Query

    def query(self, text: str, examination: Examination, context: TranslationContext) -> Job:
        """A Query message: each finding is replaced in the text."""
        replacements: list[_Replacement] = []
        for finding in examination.findings:
            try:
                if context.failed and finding.first:
                    self._unanswered(finding.content)
                    replacement = _Replacement(_NO_ROWS)
                else:
                    replacement = yield from self._in_text(finding.content, context)
            except NLError as error:
                replacement = _Replacement(replacement_sql.refused_query(self._expect(error)))
            replacements.append(replacement)
        try:
            allowance = self._allowance(replacements)
            message = encode(_replaced(text, examination.findings, replacements), context.encoding)
        except NLError as error:
            refused = replacement_sql.refused_query(self._expect(error))
            return Rewritten(codec.encode_query(refused.encode()))
        notice = b"".join(replacement.notice for replacement in replacements)
        mark = Mark(notice=notice, allowance=allowance) if notice or allowance else None
        return Rewritten(codec.encode_query(message), mark)

    def _allowance(self, replacements: list[_Replacement]) -> Allowance | None:
        """For all of a message that runs something in place: the server does not tell how far in it it is."""
        chosen = (made.treatment for made in replacements)
        found = [
            self.conversation.allowance(each).seconds
            for each in chosen
            if isinstance(each, ChosenStatement) and each.timed
        ]
        return Allowance(sum(found), sum(found)) if found else None

    def _in_text(self, content: object, context: TranslationContext) -> _ReplacementJob:
        match content:
            case AskCall(str() as question):
                rows = yield from self.conversation.ask(NLQuestion(question), context, "ask_call")
                return _constant(ANSWER_COLUMNS, rows)
            case AskCall():
                self.conversation.statement_kinds.append("refused")
                raise UnsupportedError(
                    "nl.ask has a parameter where there is none",
                    hint="Parameters need the extended query protocol, or write the question as a constant.",
                )
            case NLQuestion() if not self.conversation.runs(content):
                rows = yield from self.conversation.rows(content, context)
                return _constant(ANSWER_COLUMNS, rows)
            case _ if isinstance(content, FollowUp | TableStatement):
                rows = yield from self.conversation.rows(content, context)
                return _constant(_columns(content), rows)
        return (yield from self._fixed(content, context))

    def _fixed(self, content: object, context: TranslationContext) -> _ReplacementJob:
        match content:
            case ErrorReply():
                self._unanswered(content)
                self.conversation.statement_kinds.append("refused")
                raise ReportedError(content)
            case NLQuestion():
                outcome = yield from self.conversation.run(RunQuestion(content), context)
                return _run_replacement(outcome, context)
            case RunQuestion():
                return _run_replacement((yield from self.conversation.run(content, context)), context)
            case SqlStatement():
                choice = yield from self.conversation.statement(content, context)
                return _pinned(choice, context)
            case RunCall():
                choice = yield from self.conversation.run_call(content, context)
                return _pinned(choice, context)
        raise TypeError(content)

    # -- Parse

    def parse(self, parse: Parse, text: str, examination: Examination, context: TranslationContext) -> Job:
        """A Parse message with a finding."""
        treatment: PreparedTreatment | None = None
        if examination.statements > 1 or context.failed:
            # The server refuses the message before it reads its parameters.
            for finding in examination.findings:
                self._unanswered(finding.content)
            sql = _replaced(text, examination.findings, [_Replacement(_NO_ROWS)] * len(examination.findings))
        else:
            try:
                sql, treatment = yield from self._parse(parse, text, examination, context)
            except NLError as error:
                sql = replacement_sql.refused_query(self._expect(error))
        try:
            written = encode(sql, context.encoding)
        except NLError as error:
            treatment, written = None, replacement_sql.refused_query(self._expect(error)).encode()
        types = parse.types
        if isinstance(treatment, ParameterStatement) and treatment.hidden:
            types = (*types, *(0,) * (treatment.index - len(types)), replacement_sql.TEXT_OID)
        self.fresh = treatment if isinstance(treatment, ChosenStatement) else None
        change = self.define(parse.name, treatment)
        message = codec.encode_parse(Parse(parse.name, written, types))
        if not parse.name:
            self._unnamed = message
        return Rewritten(message, Mark(change=change) if change else None)

    def _parse(
        self, parse: Parse, text: str, examination: Examination, context: TranslationContext
    ) -> Generator[EngineRequest, EngineReply, tuple[str, PreparedTreatment | None]]:
        replacements: list[_Replacement] = []
        for finding in examination.findings:
            content = finding.content
            if not isinstance(content, NLCall | ErrorReply):
                _refuse_parameters(content, parse)
            match content:
                case AskCall():
                    replacement = _call_replacement(content, parse, examination.parameters)
                case NLQuestion() if not self.conversation.runs(content):
                    replacement = _prepared(content)
                case _ if isinstance(content, FollowUp | TableStatement):
                    replacement = _prepared(content)
                case _:
                    replacement = yield from self._fixed(content, context)
            replacements.append(replacement)
        return _replaced(text, examination.findings, replacements), _combined_treatment(replacements)

    # -- Bind

    def bind(self, bind: Bind, treatment: PreparedTreatment, context: TranslationContext) -> Job:
        """A Bind of a special statement: its rows become its parameter."""
        try:
            if isinstance(treatment, ChosenStatement):
                self._refuse_stale(treatment, context)
                if treatment is not self.fresh and not context.failed:
                    yield from self.conversation.confirm(treatment)
                if treatment.timed:
                    self.portals[bind.portal] = self.conversation.allowance(treatment)
                notice = treatment.notice + _outside(treatment.elsewhere, context)
                return Rewritten(codec.encode_bind(bind), _mark(notice))
            if context.failed:
                self._unanswered(treatment.statement or NLQuestion(""))
                rows = JSONRows("[]")
            else:
                rows = yield from self._rows(bind, treatment, context)
        except NLError as error:
            # There is no such statement: the server fails where the client expects it, naming the token.
            token = self._expect(error).encode()
            return Rewritten(codec.encode_bind(Bind(bind.portal, token, (), (), bind.results)))
        return _bound(bind, treatment, rows)

    def _refuse_stale(self, pinned: ChosenStatement, context: TranslationContext) -> None:
        if context.failed:
            return
        if pinned.last and pinned.qid != self.conversation.last_qid:
            raise StalePlanError(
                "the prepared NL statement belongs to an earlier answer",
                hint="Name the answer: NL CHOOSE n OF 'qid'.",
            )

    def _rows(self, bind: Bind, prepared: ParameterStatement, context: TranslationContext) -> RowsJob:
        if isinstance(prepared.statement, NLQuestion) and prepared.call:
            return (yield from self.conversation.ask(prepared.statement, context, "ask_call"))
        if prepared.statement is not None:
            return (yield from self.conversation.rows(prepared.statement, context))
        if prepared.index >= len(bind.parameters):
            return JSONRows("[]")
        value = bind.parameters[prepared.index]
        if not context.encoding and not (value or b"").isascii():
            raise unreadable()
        question = NLQuestion(decode(value or b"", context.encoding))
        return (yield from self.conversation.ask(question, context, "ask_call"))

    def _unanswered(self, content: object) -> None:
        """Notes that the server fails in the place of `content`, where that is a question."""
        if isinstance(content, Question):
            self.conversation.unanswered()

    def _expect(self, error: NLError) -> str:
        """A token under which the server will fail in our place."""
        self._token += 1
        token = f"{replacement_sql.ERROR_TOKEN}{self._token}"
        self.expected.append(ExpectedError(token, error.reply(), isinstance(error, StalePlanError)))
        return token


_NO_ROWS = replacement_sql.answer_query(replacement_sql.constant("[]"))


def _columns(content: RowStatement) -> replacement_sql.Columns:
    return TOPIC_COLUMNS[content.topic] if isinstance(content, TableStatement) else ANSWER_COLUMNS


def _constant(columns: replacement_sql.Columns, rows: JSONRows) -> _Replacement:
    return _Replacement(
        replacement_sql.table_query(columns, replacement_sql.constant(rows.json)), rows.notice
    )


def _prepared(content: RowStatement) -> _Replacement:
    """A statement of which only the rows are not known yet."""
    sql = replacement_sql.table_query(_columns(content), replacement_sql.parameter(1))
    return _Replacement(sql, treatment=ParameterStatement(0, content))


def _pinned(choice: ChosenStatement, context: TranslationContext) -> _Replacement:
    return _Replacement(choice.sql, choice.notice + _outside(choice.elsewhere, context), choice)


def _outside(elsewhere: str | None, context: TranslationContext) -> bytes:
    """What is told inside of a transaction about rows of another database."""
    if elsewhere is None or not context.in_transaction:
        return b""
    return notices.outside(elsewhere, context.encoding)


def _run_replacement(outcome: JSONRows | ChosenStatement, context: TranslationContext) -> _Replacement:
    if isinstance(outcome, ChosenStatement):
        return _pinned(outcome, context)
    rows = _constant(ANSWER_COLUMNS, outcome)
    return replace(rows, treatment=ChosenStatement(rows.sql, notice=outcome.notice))


def _combined_treatment(replacements: list[_Replacement]) -> PreparedTreatment | None:
    """The treatment of a statement with several calls of `nl.run`: one for all of them."""
    found = [replacement.treatment for replacement in replacements if replacement.treatment is not None]
    pinned = [each for each in found if isinstance(each, ChosenStatement)]
    if len(pinned) <= 1:
        return found[0] if found else None
    elsewhere = next((each.elsewhere for each in pinned if each.elsewhere is not None), None)
    timed = any(each.timed for each in pinned)
    notice = b"".join(each.notice for each in pinned)
    again = tuple(each for one in pinned for each in one.again)
    return replace(pinned[0], elsewhere=elsewhere, notice=notice, timed=timed, again=again)


def _mark(notice: bytes) -> Mark | None:
    return Mark(notice=notice) if notice else None


def _in_place(finding: Finding, query: str) -> str:
    """`query` in place of a finding: as an item of FROM for a call, as it is for a statement."""
    match finding.content:
        case AskCall(named=named):
            return replacement_sql.derived_table(query, alias="" if named else "ask")
        case RunCall(named=named):
            return replacement_sql.derived_table(query, alias="" if named else "run")
    return query


def _replaced(text: str, findings: tuple[Finding, ...], replacements: list[_Replacement]) -> str:
    parts: list[str] = []
    done = 0
    for finding, replacement in zip(findings, replacements, strict=True):
        parts += [text[done : finding.start], _in_place(finding, replacement.sql)]
        done = finding.end
    return "".join([*parts, text[done:]])


def _bound(bind: Bind, prepared: ParameterStatement, rows: JSONRows) -> Rewritten:
    parameters = list(bind.parameters)
    formats = bind.formats
    value = rows.json.encode()
    if prepared.hidden:
        if len(formats) > 1:
            formats = (*formats, 0)
        parameters.append(value)
    elif prepared.index < len(parameters):
        parameters[prepared.index] = value
    changed = replace(bind, formats=formats, parameters=tuple(parameters))
    return Rewritten(codec.encode_bind(changed), _mark(rows.notice))


def _refuse_parameters(content: object, parse: Parse) -> None:
    if not parse.types:
        return
    question = content.question if isinstance(content, RunQuestion) else content
    if isinstance(question, NLQuestion) and questions.lost_question_mark(question.text):
        raise SyntaxProblemError(
            "the driver turned a question mark of the question into a parameter",
            hint="Write NL: $$…?$$, or leave the question mark out.",
        )
    raise UnsupportedError(
        "an NL statement takes no parameters", hint="Pass the question itself: SELECT * FROM nl.ask($1)."
    )


def _call_replacement(call: AskCall, parse: Parse, parameters: int) -> _Replacement:
    """The rows of `nl.ask` as a parameter: the client's own one, or one behind its own ones."""
    if isinstance(call.argument, Parameter):
        number = call.argument.number
        declared = parse.types[number - 1] if number <= len(parse.types) else 0
        if declared not in replacement_sql.TEXT_OIDS:
            raise UnsupportedError(
                f"the parameter ${number} of nl.ask is not text", hint="Cast or declare it as text."
            )
        prepared = ParameterStatement(number - 1, None, call=True)
    else:
        number = max(parameters, len(parse.types)) + 1
        prepared = ParameterStatement(number - 1, NLQuestion(call.argument), call=True)
    return _Replacement(replacement_sql.answer_query(replacement_sql.parameter(number)), treatment=prepared)
