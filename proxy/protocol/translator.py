"""From an NL message to the message that goes upstream in its place.

Each job is a generator without I/O: it yields requests for the engine, is sent the replies, and returns the
message. Owns what a session remembers of its questions: settings, the last qid, special prepared statements.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from engine.errors import (
    DatabaseDiffersError,
    NLError,
    ReportedError,
    StalePlanError,
    SyntaxProblemError,
    UnknownQuestionError,
    UnsupportedError,
)
from engine.types import Asker, AskReply, ChooseRequest, Chosen, ErrorReply, RowKind, ShowRequest
from proxy.protocol import codec, translate
from proxy.protocol.backend import Expected
from proxy.protocol.commands import EngineReply, EngineRequest
from proxy.protocol.encoding import decode, encode, require_valid
from proxy.protocol.messages import Bind, Parse
from proxy.protocol.nl import grammar, settings
from proxy.protocol.nl.statements import (
    AskCall,
    Choose,
    Examination,
    Finding,
    Help,
    Parameter,
    Question,
    SettingChange,
    Show,
)
from proxy.protocol.replies import Mark, StatementChange

_NL001 = "NL001"
_NL002 = "NL002"


@dataclass(frozen=True, slots=True)
class Special:
    """A prepared statement whose parameter at `index` (from 0) is the answer's JSON.

    `question` None: the client's own parameter is the question. Otherwise the parameter is hidden from the
    client, behind its own ones.
    """

    index: int
    question: Question | Show | None

    @property
    def hidden(self) -> bool:
        """Whether the client does not know of the parameter."""
        return self.question is not None


@dataclass(frozen=True, slots=True)
class Pinned:
    """A prepared `NL CHOOSE`: its statement is fixed, and so is the answer that it was chosen from.

    `last`: it named no answer, so that it goes stale with the next question. `elsewhere`: it holds rows of
    that database. `notice` goes with every execution.
    """

    qid: str
    last: bool
    elsewhere: str | None
    notice: bytes


Treatment = Special | Pinned


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The message that goes upstream, and what is to happen with its reply."""

    message: bytes
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known when a job starts. `failed`: the server is certain to refuse the first statement."""

    failed: bool
    in_transaction: bool
    standard_strings: bool
    encoding: str


Job = Generator[EngineRequest, EngineReply, Rewritten]
_Text = Generator[EngineRequest, EngineReply, str]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A chosen statement as SQL. `elsewhere`: the database that it was run on, None in place."""

    sql: str
    elsewhere: str | None
    notice: bytes


_Choosing = Generator[EngineRequest, EngineReply, _Choice]


class Translator:
    """The jobs of one session. `expected` and `seen` collect what the session has to take over."""

    __slots__ = (
        "_asker",
        "_initial",
        "_last_qid",
        "_local",
        "_max_chars",
        "_session",
        "_token",
        "expected",
        "seen",
        "specials",
    )

    def __init__(self, asker: Asker, values: tuple[tuple[str, str], ...], *, max_chars: int) -> None:
        self._asker = asker
        self._max_chars = max_chars
        self._initial = dict(values)
        self._session = dict(values)
        self._local: dict[str, str] = {}
        self._last_qid: str | None = None
        self._token = 0
        self.specials: dict[bytes, Treatment] = {}
        self.expected: list[Expected] = []
        self.seen: list[str] = []

    # -- settings

    @property
    def has_settings(self) -> bool:
        """Whether a setting differs from what the session started with, so that resetting matters."""
        return bool(self._local) or self._session != self._initial

    def apply(self, changes: tuple[SettingChange, ...]) -> None:
        """Takes over the settings that went by."""
        for change in changes:
            values = self._local if change.local else self._session
            if change.name is None:
                self._session = dict(self._initial)
                self._local.clear()
            elif change.value is not None:
                values[change.name] = change.value
            else:
                values.pop(change.name, None)
                if change.name in self._initial:
                    values[change.name] = self._initial[change.name]

    def transaction_ended(self) -> None:
        """SET LOCAL ends with its transaction."""
        self._local.clear()

    # -- prepared statements

    def define(self, name: bytes, special: Treatment | None) -> StatementChange | None:
        """Sets what a prepared statement is from now on. Returns the change, None where there is none."""
        before = self.specials.pop(name, None)
        if special is not None:
            self.specials[name] = special
        return None if before is None and special is None else StatementChange(name, before, special)

    def undo(self, change: StatementChange, *, failed: bool) -> None:
        """The message that made `change` failed or was skipped.

        A failed Parse of the unnamed statement has destroyed the former one nevertheless.
        """
        if self.specials.get(change.name) is not change.after:
            return
        self.specials.pop(change.name, None)
        if isinstance(change.before, Treatment) and not (failed and not change.name):
            self.specials[change.name] = change.before

    # -- jobs

    def query(self, text: str, examination: Examination, situation: Situation) -> Job:
        """A Query message: each finding is replaced in the text."""
        parts: list[str] = []
        notice, done = b"", 0
        for finding in examination.findings:
            parts.append(text[done : finding.start])
            done = finding.end
            try:
                if situation.failed and finding.first:
                    sql = _in_place(finding, _NO_ROWS)
                elif isinstance(finding.what, Choose):
                    choice = yield from self._choose(finding.what, situation)
                    sql, notice = choice.sql, notice + choice.notice
                else:
                    sql = yield from self._in_text(finding, situation)
            except NLError as error:
                sql = _in_place(finding, translate.refused_query(self._expect(error)))
            parts.append(sql)
        parts.append(text[done:])
        message = codec.encode_query(encode("".join(parts), situation.encoding))
        return Rewritten(message, Mark(notice=notice) if notice else None)

    def _in_text(self, finding: Finding, situation: Situation) -> _Text:
        """The SQL in place of a finding, with the answer in it."""
        what = finding.what
        match what:
            case ErrorReply():
                self.seen.append("refused")
                raise ReportedError(what)
            case Help():
                self.seen.append("help")
                return translate.help_query()
            case AskCall(str() as question):
                rows = yield from self._ask(Question(question), situation, "ask_call")
            case AskCall():
                self.seen.append("refused")
                raise UnsupportedError(
                    "nl.ask has a parameter where there is none",
                    hint="Parameters need the extended query protocol, or write the question as a constant.",
                )
            case Question() | Show():
                rows = yield from self._rows(what, situation)
            case Choose():
                raise TypeError(what)
        return _in_place(finding, translate.answer_query(translate.constant(rows)))

    def parse(self, parse: Parse, text: str, examination: Examination, situation: Situation) -> Job:
        """A Parse message with a finding."""
        treatment: Treatment | None = None
        if examination.statements > 1 or situation.failed:
            # The server refuses the message; its parameters do not matter.
            sql = _replaced(text, examination.findings[0], _NO_ROWS)
        else:
            try:
                sql, treatment = yield from self._parse(parse, text, examination, situation)
            except NLError as error:
                sql = translate.refused_query(self._expect(error))
        types = parse.types
        if isinstance(treatment, Special) and treatment.hidden:
            types = (*types, *(0,) * (treatment.index - len(types)), translate.TEXT_OID)
        change = self.define(parse.name, treatment)
        message = codec.encode_parse(Parse(parse.name, encode(sql, situation.encoding), types))
        return Rewritten(message, Mark(change=change) if change else None)

    def _parse(
        self, parse: Parse, text: str, examination: Examination, situation: Situation
    ) -> Generator[EngineRequest, EngineReply, tuple[str, Treatment | None]]:
        finding = examination.findings[0]
        what = finding.what
        match what:
            case Question() | Show():
                _refuse_parameters(what, parse)
                return translate.answer_query(translate.parameter(1)), Special(0, what)
            case AskCall():
                number, special = _call_parameter(what, parse, examination.parameters)
                return _replaced(text, finding, translate.answer_query(translate.parameter(number))), special
            case Choose():
                choice = yield from self._choose(what, situation)
                qid = self._qid(what.qid)
                return choice.sql, Pinned(qid, what.qid is None, choice.elsewhere, choice.notice)
        return (yield from self._in_text(finding, situation)), None

    def bind(self, bind: Bind, treatment: Treatment, situation: Situation) -> Job:
        """A Bind of a special statement: the answer becomes its parameter."""
        try:
            if isinstance(treatment, Pinned):
                self._refuse_stale(treatment, situation)
                mark = Mark(notice=treatment.notice) if treatment.notice else None
                return Rewritten(codec.encode_bind(bind), mark)
            rows = "[]" if situation.failed else (yield from self._answer(bind, treatment, situation))
        except NLError as error:
            # There is no such statement: the server fails where the client expects it, naming the token.
            token = self._expect(error).encode()
            return Rewritten(codec.encode_bind(Bind(bind.portal, token, (), (), bind.results)))
        return self._bound(bind, treatment, rows)

    def _refuse_stale(self, pinned: Pinned, situation: Situation) -> None:
        if situation.failed:
            return
        if pinned.last and pinned.qid != self._last_qid:
            raise StalePlanError(
                "the prepared NL CHOOSE belongs to an earlier answer",
                hint="Name the answer: NL CHOOSE n OF 'qid'.",
            )
        if pinned.elsewhere is not None and situation.in_transaction:
            raise _differs(pinned.elsewhere)

    def _answer(self, bind: Bind, special: Special, situation: Situation) -> _Text:
        if special.question is not None:
            return (yield from self._rows(special.question, situation))
        if special.index >= len(bind.parameters):
            return "[]"
        value = bind.parameters[special.index]
        question = Question(decode(value or b"", situation.encoding))
        return (yield from self._ask(question, situation, "ask_call"))

    @staticmethod
    def _bound(bind: Bind, special: Special, rows: str) -> Rewritten:
        parameters = list(bind.parameters)
        formats = bind.formats
        value = rows.encode()
        if special.hidden:
            if len(formats) > 1:
                formats = (*formats, 0)
            parameters.append(value)
        elif special.index < len(parameters):
            parameters[special.index] = value
        return Rewritten(codec.encode_bind(replace(bind, formats=formats, parameters=tuple(parameters))))

    # -- the engine

    def _rows(self, what: Question | Show, situation: Situation) -> _Text:
        if isinstance(what, Question):
            return (yield from self._ask(what, situation, "question"))
        self.seen.append("show")
        reply = yield ShowRequest(self._asker, self._qid(what.qid), what.n)
        return self._rows_of(reply, situation)

    def _ask(self, question: Question, situation: Situation, kind: str) -> _Text:
        self.seen.append(kind)
        text = require_valid(grammar.checked_question(question.text, self._max_chars))
        strict = settings.raises_on_abstain(question, self._effective)
        reply = yield settings.request(self._asker, replace(question, text=text), self._effective)
        rows = self._rows_of(reply, situation)
        if strict:
            _refuse_abstention(reply)
        return rows

    @property
    def _effective(self) -> dict[str, str]:
        return {**self._session, **self._local}

    def _rows_of(self, reply: EngineReply, situation: Situation) -> str:
        if isinstance(reply, ErrorReply):
            raise ReportedError(reply)
        if not isinstance(reply, AskReply):
            raise TypeError(reply)
        self._last_qid = reply.qid
        return translate.rows_json(reply.rows, ascii_only=situation.encoding != "utf-8")

    def _choose(self, choose: Choose, situation: Situation) -> _Choosing:
        self.seen.append("choose")
        reply = yield ChooseRequest(self._asker, self._qid(choose.qid), choose.n)
        if isinstance(reply, ErrorReply):
            raise ReportedError(reply)
        if not isinstance(reply, Chosen):
            raise TypeError(reply)
        if not reply.in_place and situation.in_transaction:
            raise _differs(reply.database)
        sql = translate.chosen_query(reply, ascii_only=situation.encoding != "utf-8")
        elsewhere = None if reply.in_place else reply.database
        return _Choice(sql, elsewhere, _truncation(reply, situation))

    def _qid(self, given: str | None) -> str:
        qid = given or self._last_qid
        if qid is None:
            raise UnknownQuestionError(
                "no question has been asked on this connection",
                hint="Ask one first, or name an answer: NL CHOOSE 1 OF 'qid'.",
            )
        return qid

    def _expect(self, error: NLError) -> str:
        """A token under which the server will fail in our place."""
        self._token += 1
        token = f"{translate.ERROR_TOKEN}{self._token}"
        self.expected.append(Expected(token, error.reply(), isinstance(error, StalePlanError)))
        return token


_NO_ROWS = translate.answer_query(translate.constant("[]"))


def _in_place(finding: Finding, query: str) -> str:
    """`query` in place of a finding: as an item of FROM for a call, as it is for a statement."""
    if isinstance(finding.what, AskCall):
        return translate.derived_table(query, named=finding.what.named)
    return query


def _replaced(text: str, finding: Finding, query: str) -> str:
    return text[: finding.start] + _in_place(finding, query) + text[finding.end :]


def _differs(database: str) -> DatabaseDiffersError:
    return DatabaseDiffersError(
        f'the chosen statement belongs to database "{database}" and a transaction is open',
        hint="Choose it outside of a transaction block.",
    )


def _truncation(chosen: Chosen, situation: Situation) -> bytes:
    if not chosen.truncated:
        return b""
    notice = ErrorReply(
        "01000",
        f"the result was cut after {len(chosen.rows)} rows",
        hint=f'Connect to database "{chosen.database}" and run the statement there for all rows.',
    )
    return codec.encode_notice(notice, situation.encoding)


def _refuse_abstention(reply: EngineReply) -> None:
    first = reply.rows[0] if isinstance(reply, AskReply) and reply.rows else None
    if first is not None and first.kind is RowKind.ABSTAIN:
        raise ReportedError(ErrorReply(_NL002, "the question was not answered", first.explanation))
    if first is not None and first.kind is RowKind.OPTION:
        raise ReportedError(
            ErrorReply(_NL001, "the question needs an answer first", first.explanation, first.next)
        )


def _refuse_parameters(what: Question | Show, parse: Parse) -> None:
    if not parse.types:
        return
    if isinstance(what, Question) and grammar.lost_question_mark(what.text):
        raise SyntaxProblemError(
            "the driver turned a question mark of the question into a parameter",
            hint="Write NL: $$…?$$, or leave the question mark out.",
        )
    raise UnsupportedError(
        "an NL statement takes no parameters",
        hint="Pass the question itself: SELECT * FROM nl.ask($1).",
    )


def _call_parameter(call: AskCall, parse: Parse, parameters: int) -> tuple[int, Special]:
    """The number of the parameter that carries the answer, and how to treat the statement."""
    if isinstance(call.argument, Parameter):
        number = call.argument.number
        declared = parse.types[number - 1] if 1 <= number <= len(parse.types) else 0
        if number < 1 or declared not in translate.TEXT_OIDS:
            raise UnsupportedError(
                f"the parameter ${number} of nl.ask is not text", hint="Cast or declare it as text."
            )
        return number, Special(number - 1, None)
    number = max(parameters, len(parse.types)) + 1
    return number, Special(number - 1, Question(call.argument))
