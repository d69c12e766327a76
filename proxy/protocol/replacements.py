"""What stands in the place of an NL statement or call in its message, and how what is prepared of it is treated.

Pure functions of values; `translator` asks the engine and puts their results together.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from engine.values.errors import SyntaxProblemError, UnsupportedError
from engine.values.messages import ANSWER_COLUMNS, TOPIC_COLUMNS, EngineRequest, ErrorReply
from proxy.protocol import codec, notices, replacement_sql
from proxy.protocol.codec import Bind, Parse
from proxy.protocol.commands import EngineReply
from proxy.protocol.conversation import ChosenStatement, JSONRows, TranslationContext
from proxy.protocol.nl import questions
from proxy.protocol.nl.statements import (
    AnswerStatement,
    AskCall,
    Finding,
    NLQuestion,
    Parameter,
    RunCall,
    RunQuestion,
    TableStatement,
)
from proxy.protocol.replies import Mark

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


@dataclass(frozen=True, slots=True)
class Told:
    """The client gets this error in place of the message, and the server, which is idle, nothing.

    So a transaction goes on.
    """

    error: ErrorReply


Job = Generator[EngineRequest, EngineReply, Rewritten | Told]


@dataclass(frozen=True, slots=True)
class Replacement:
    """The SQL in place of a finding. `treatment`: of the prepared statement that it becomes a part of."""

    sql: str
    notice: bytes = b""
    treatment: PreparedTreatment | None = None


ReplacementJob = Generator[EngineRequest, EngineReply, Replacement]


NO_ROWS = replacement_sql.answer_query(replacement_sql.constant("[]"))


def columns(content: RowStatement) -> replacement_sql.Columns:
    """Of the rows that answer `content`."""
    return TOPIC_COLUMNS[content.topic] if isinstance(content, TableStatement) else ANSWER_COLUMNS


def constant_rows(columns: replacement_sql.Columns, rows: JSONRows) -> Replacement:
    """Rows that are known."""
    return Replacement(replacement_sql.table_query(columns, replacement_sql.constant(rows.json)), rows.notice)


def prepared_rows(content: RowStatement) -> Replacement:
    """A statement of which only the rows are not known yet."""
    sql = replacement_sql.table_query(columns(content), replacement_sql.parameter(1))
    return Replacement(sql, treatment=ParameterStatement(0, content))


def pinned(choice: ChosenStatement, context: TranslationContext) -> Replacement:
    """The statement that was chosen."""
    return Replacement(choice.sql, choice.notice + outside(choice.elsewhere, context), choice)


def outside(elsewhere: str | None, context: TranslationContext) -> bytes:
    """What is told inside of a transaction about rows of another database."""
    if elsewhere is None or not context.in_transaction:
        return b""
    return notices.outside(elsewhere, context.encoding)


def run_outcome(outcome: JSONRows | ChosenStatement, context: TranslationContext) -> Replacement:
    """What `NL RUN` has become: the chosen statement, or an answer's rows."""
    if isinstance(outcome, ChosenStatement):
        return pinned(outcome, context)
    rows = constant_rows(ANSWER_COLUMNS, outcome)
    return replace(rows, treatment=ChosenStatement(rows.sql, notice=outcome.notice))


def combined_treatment(replacements: list[Replacement]) -> PreparedTreatment | None:
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


def marked(notice: bytes) -> Mark | None:
    """The mark for a message with this notice, None without one."""
    return Mark(notice=notice) if notice else None


def _in_place(finding: Finding, query: str) -> str:
    """`query` in place of a finding: as an item of FROM for a call, as it is for a statement."""
    match finding.content:
        case AskCall(named=named):
            return replacement_sql.derived_table(query, alias="" if named else "ask")
        case RunCall(named=named):
            return replacement_sql.derived_table(query, alias="" if named else "run")
    return query


def replaced(text: str, findings: tuple[Finding, ...], replacements: list[Replacement]) -> str:
    """`text` with each finding replaced."""
    parts: list[str] = []
    done = 0
    for finding, replacement in zip(findings, replacements, strict=True):
        parts += [text[done : finding.start], _in_place(finding, replacement.sql)]
        done = finding.end
    return "".join([*parts, text[done:]])


def bound(bind: Bind, prepared: ParameterStatement, rows: JSONRows) -> Rewritten:
    """The Bind with its rows as the parameter that waits for them."""
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
    return Rewritten(codec.encode_bind(changed), marked(rows.notice))


def refuse_parameters(content: object, parse: Parse) -> None:
    """Raises where an NL statement was prepared with parameters."""
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


def call_rows(call: AskCall, parse: Parse, parameters: int) -> Replacement:
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
    return Replacement(replacement_sql.answer_query(replacement_sql.parameter(number)), treatment=prepared)
