"""Translates an NL message to the message that goes upstream in its place.

Each job is a generator without I/O: it yields `conversation`'s requests for the engine, is sent the replies, and
returns the message. Owns the places in a message, and the prepared statements that need a special treatment.
"""

from __future__ import annotations

from collections.abc import Generator

from engine.values.errors import CostlyError, NLError, ReportedError, StalePlanError, UnsupportedError
from engine.values.messages import ANSWER_COLUMNS, Asker, EngineRequest, ErrorReply
from proxy.protocol import codec, replacement_sql
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
from proxy.protocol.nl.persons import BehalfRules
from proxy.protocol.nl.statements import (
    AskCall,
    Examination,
    FollowUp,
    NLCall,
    NLQuestion,
    Question,
    RunCall,
    RunQuestion,
    SqlStatement,
    TableStatement,
)
from proxy.protocol.replacements import (
    NO_ROWS,
    Job,
    ParameterStatement,
    PreparedTreatment,
    Replacement,
    ReplacementJob,
    Rewritten,
    Told,
    bound,
    call_rows,
    columns,
    combined_treatment,
    constant_rows,
    marked,
    outside,
    pinned,
    prepared_rows,
    refuse_parameters,
    replaced,
    run_outcome,
)
from proxy.protocol.replies import Allowance, Mark, StatementChange


class Translator:
    """The jobs of one session. `expected` collects the errors that the server will raise in our place."""

    __slots__ = ("_token", "_unnamed", "conversation", "expected", "fresh", "nl_prepared", "portals")

    def __init__(
        self,
        asker: Asker,
        values: tuple[tuple[str, str], ...],
        rules: BehalfRules,
        *,
        max_chars: int,
        seconds: float,
    ) -> None:
        """`seconds`: what `nl.timeout` is where it is not set."""
        self.conversation = Conversation(asker, values, rules, max_chars=max_chars, seconds=seconds)
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
        replacements: list[Replacement] = []
        for finding in examination.findings:
            try:
                if context.failed and finding.first:
                    self._unanswered(finding.content)
                    replacement = Replacement(NO_ROWS)
                else:
                    replacement = yield from self._in_text(finding.content, context)
            except NLError as error:
                if _is_bill(error) and context.idle() and examination.statements == 1:
                    return Told(error.reply())
                replacement = Replacement(replacement_sql.refused_query(self._expect(error)))
            replacements.append(replacement)
        try:
            allowance = self._allowance(replacements)
            message = encode(replaced(text, examination.findings, replacements), context.encoding)
        except NLError as error:
            refused = replacement_sql.refused_query(self._expect(error))
            return Rewritten(codec.encode_query(refused.encode()))
        notice = b"".join(replacement.notice for replacement in replacements)
        mark = Mark(notice=notice, allowance=allowance) if notice or allowance else None
        return Rewritten(codec.encode_query(message), mark)

    def _allowance(self, replacements: list[Replacement]) -> Allowance | None:
        """For all of a message that runs something in place: the server does not tell how far in it it is."""
        chosen = (made.treatment for made in replacements)
        found = [
            self.conversation.allowance(each).seconds
            for each in chosen
            if isinstance(each, ChosenStatement) and each.timed
        ]
        return Allowance(sum(found), sum(found)) if found else None

    def _in_text(self, content: object, context: TranslationContext) -> ReplacementJob:
        match content:
            case AskCall(str() as question):
                rows = yield from self.conversation.ask(NLQuestion(question), context, "ask_call")
                return constant_rows(ANSWER_COLUMNS, rows)
            case AskCall():
                self.conversation.statement_kinds.append("refused")
                raise UnsupportedError(
                    "nl.ask has a parameter where there is none",
                    hint="Parameters need the extended query protocol, or write the question as a constant.",
                )
            case NLQuestion() if not self.conversation.runs(content):
                rows = yield from self.conversation.rows(content, context)
                return constant_rows(ANSWER_COLUMNS, rows)
            case _ if isinstance(content, FollowUp | TableStatement):
                rows = yield from self.conversation.rows(content, context)
                return constant_rows(columns(content), rows)
        return (yield from self._fixed(content, context))

    def _fixed(self, content: object, context: TranslationContext) -> ReplacementJob:
        match content:
            case ErrorReply():
                self._unanswered(content)
                self.conversation.statement_kinds.append("refused")
                raise ReportedError(content)
            case NLQuestion():
                outcome = yield from self.conversation.run(RunQuestion(content), context)
                return run_outcome(outcome, context)
            case RunQuestion():
                return run_outcome((yield from self.conversation.run(content, context)), context)
            case SqlStatement():
                choice = yield from self.conversation.statement(content, context)
                return pinned(choice, context)
            case RunCall():
                choice = yield from self.conversation.run_call(content, context)
                return pinned(choice, context)
        raise TypeError(content)

    # -- Parse

    def parse(self, parse: Parse, text: str, examination: Examination, context: TranslationContext) -> Job:
        """A Parse message with a finding."""
        treatment: PreparedTreatment | None = None
        if examination.statements > 1 or context.failed:
            # The server refuses the message before it reads its parameters.
            for finding in examination.findings:
                self._unanswered(finding.content)
            sql = replaced(text, examination.findings, [Replacement(NO_ROWS)] * len(examination.findings))
        else:
            try:
                sql, treatment = yield from self._parse(parse, text, examination, context)
            except NLError as error:
                if _is_bill(error) and context.idle():
                    return Told(error.reply())
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
        replacements: list[Replacement] = []
        for finding in examination.findings:
            content = finding.content
            if not isinstance(content, NLCall | ErrorReply):
                refuse_parameters(content, parse)
            match content:
                case AskCall():
                    replacement = call_rows(content, parse, examination.parameters)
                case NLQuestion() if not self.conversation.runs(content):
                    replacement = prepared_rows(content)
                case _ if isinstance(content, FollowUp | TableStatement):
                    replacement = prepared_rows(content)
                case _:
                    replacement = yield from self._fixed(content, context)
            replacements.append(replacement)
        return replaced(text, examination.findings, replacements), combined_treatment(replacements)

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
                notice = treatment.notice + outside(treatment.elsewhere, context)
                return Rewritten(codec.encode_bind(bind), marked(notice))
            if context.failed:
                self._unanswered(treatment.statement or NLQuestion(""))
                rows = JSONRows("[]")
            else:
                rows = yield from self._rows(bind, treatment, context)
        except NLError as error:
            if _is_bill(error) and context.idle():
                return Told(error.reply())
            # There is no such statement: the server fails where the client expects it, naming the token.
            token = self._expect(error).encode()
            return Rewritten(codec.encode_bind(Bind(bind.portal, token, (), (), bind.results)))
        return bound(bind, treatment, rows)

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


def _is_bill(error: NLError) -> bool:
    return error.sqlstate == CostlyError.sqlstate
