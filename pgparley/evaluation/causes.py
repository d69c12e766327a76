"""Why a question was not answered rightly, as far as the known and the shown statement tell, and what may mend it.

Owns no measurement: whether a proposal helps, `pgparley eval --with` finds out before anything is saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.evaluation.types import Verdict
from pgparley.evaluation.report import Judged
from schema_catalog.naming import quote_literal

_FORMULAS = (exp.Mul, exp.Div, exp.Sub, exp.Add)


class Cause(StrEnum):
    """What was missing, first what others rest on."""

    RIGHTS = "rights"
    JOIN = "join"
    DESCRIPTION = "description"
    VALUE = "value"
    TERM = "term"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`proposal`: a call or command, "…" in it for words that a person has to find; empty where none is evident."""

    cause: Cause
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a statement names, tables without their schemas. `written`: a table's name as the statement has it."""

    written: dict[str, str]
    columns: frozenset[str]
    joins: frozenset[frozenset[str]]
    values: frozenset[tuple[str, str, bool]]
    formulas: frozenset[str]


def diagnosis(each: Judged) -> Diagnosis:
    """Of a question whose first statement is not right."""
    asked, reply = each.asked, each.reply
    if "permission denied" in reply.detail or "cannot read" in reply.detail:
        return Diagnosis(Cause.RIGHTS, "GRANT SELECT on what the known statement reads to who asks")
    verify = (
        f"SELECT nl_catalog.verify({_call(asked.database)}, {_call(asked.question)}, {_call(asked.sql)});"
    )
    known = _parts(asked.sql)
    if reply.verdict is Verdict.FAILED or known is None:
        return Diagnosis(Cause.MODEL, "" if reply.verdict is Verdict.FAILED else verify)
    shown = _parts(reply.sql) if reply.sql else None
    if shown is None:
        return Diagnosis(Cause.DESCRIPTION, _describe(asked.database, known, known.written))
    found = next(_differences(asked.database, known, shown), None)
    return found or Diagnosis(Cause.MODEL, verify)


def _differences(database: str, known: _Parts, shown: _Parts) -> Iterator[Diagnosis]:
    if missing := known.written.keys() - shown.written.keys():
        yield Diagnosis(Cause.DESCRIPTION, _describe(database, known, missing))
    for join in sorted(map(sorted, known.joins - shown.joins)):
        ends = ", ".join(_element(database, known, end) for end in join)
        yield Diagnosis(
            Cause.JOIN, f"SELECT nl_catalog.declare_join({ends}); -- the side with many rows first"
        )
    if missing := known.columns - shown.columns:
        yield Diagnosis(Cause.DESCRIPTION, _describe(database, known, missing))
    for column, value, text in sorted(known.values - shown.values):
        words = _element(database, known, column)
        say = f"SELECT nl_catalog.describe({words}, '{value}: …');"
        name = f"{known.written.get(column.partition('.')[0], '')}.{column.rpartition('.')[2]}"
        yield Diagnosis(
            Cause.VALUE,
            f"pgparley catalog values {database} --allow {name}" if text and len(value) > 2 else say,  # noqa: PLR2004 - a code
        )
    for formula in sorted(known.formulas - shown.formulas):
        yield Diagnosis(
            Cause.TERM, f"SELECT nl_catalog.define_term({_call(database)}, '…', {_call(formula)});"
        )


def _describe(database: str, known: _Parts, names: Iterable[str]) -> str:
    elements = (_element(database, known, name) for name in sorted(names))
    return " ".join(f"SELECT nl_catalog.describe({each}, '…');" for each in elements)


def _element(database: str, known: _Parts, name: str) -> str:
    table, dot, column = name.partition(".")
    return _call(f"{database}.{known.written.get(table, table)}{dot}{column}")


def _call(text: str) -> str:
    return quote_literal(" ".join(text.split()))


def _parts(sql: str) -> _Parts | None:
    try:
        tree: Any = sqlglot.parse_one(sql, read="postgres")
    except SqlglotError:
        return None
    ours = {each.alias for each in tree.find_all(exp.CTE)}
    tables = [each for each in tree.find_all(exp.Table) if each.name not in ours]
    aliases = {each.name: each.name for each in tables} | {each.alias_or_name: each.name for each in tables}
    written = {each.name: f"{each.db}.{each.name}".lstrip(".") for each in tables}

    def name(column: Any) -> str:
        table = (
            aliases.get(column.table, "")
            if column.table
            else ""
            if len(written) != 1
            else next(iter(written))
        )
        return f"{table}.{column.name}".lstrip(".")

    columns = [each for each in tree.find_all(exp.Column) if each.name]
    compared = [
        (each.this, other)
        for each in tree.find_all(exp.Predicate)
        for other in (each.expressions or [each.expression])
        if isinstance(each, exp.Binary | exp.In) and isinstance(each.this, exp.Column)
    ]
    for each in columns:
        each.set(
            "table",
            exp.to_identifier(aliases.get(each.table)) if each.table in aliases else each.args.get("table"),
        )
    return _Parts(
        written,
        frozenset(map(name, columns)),
        frozenset(
            frozenset((name(one), name(other))) for one, other in compared if isinstance(other, exp.Column)
        ),
        frozenset(
            (name(one), other.name, other.is_string)
            for one, other in compared
            if isinstance(other, exp.Literal)
        ),
        frozenset(
            each.sql("postgres")
            for each in tree.find_all(*_FORMULAS)
            if not isinstance(each.parent, _FORMULAS) and each.find(exp.Column)
        ),
    )
