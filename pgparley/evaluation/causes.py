"""Why a question was not answered rightly, as far as the known and the shown statement tell, and what may mend it.

Owns no measurement: whether a proposal helps, `pgparley eval --with` finds out before anything is saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.values.evaluation import Verdict
from pgparley.evaluation.report import Judged
from schema_catalog.naming import quote_literal

CODE = 2
"""Characters of a text that says nothing by itself, at most."""

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
    """What a statement names. `written`: a table's name, without its schema, as the statement has it."""

    written: dict[str, str]
    columns: frozenset[str]
    joins: frozenset[tuple[str, ...]]
    values: frozenset[tuple[str, str, bool]]
    formulas: frozenset[str]


def diagnosis(each: Judged) -> Diagnosis:
    """Of a question whose first statement is not right."""
    asked, reply = each.asked, each.reply
    if "permission denied" in reply.detail or "cannot read" in reply.detail:
        return Diagnosis(Cause.RIGHTS, "GRANT SELECT on what the known statement reads to who asks")
    if reply.verdict is Verdict.UNJUDGED and "may be read by" in reply.detail:
        return Diagnosis(
            Cause.RIGHTS, f"pgparley catalog login {asked.database} ROLE, for the ROLE of --user"
        )
    if reply.verdict is Verdict.FAILED:
        return Diagnosis(Cause.MODEL)
    known, shown = _parts(asked.sql), _parts(reply.sql or "SELECT")
    found = None if known is None or shown is None else next(_differences(asked.database, known, shown), None)
    return found or Diagnosis(Cause.MODEL, _call("verify", asked.database, asked.question, asked.sql))


def _differences(database: str, known: _Parts, shown: _Parts) -> Iterator[Diagnosis]:
    def element(name: str) -> str:
        table, dot, column = name.partition(".")
        return f"{database}.{known.written.get(table, table)}{dot}{column}"

    if missing := sorted(known.written.keys() - shown.written.keys()):
        yield Diagnosis(Cause.DESCRIPTION, _call("describe", element(missing[0]), "…"))
    for ends in sorted(known.joins - shown.joins):
        yield Diagnosis(
            Cause.JOIN, f"{_call('declare_join', *map(element, ends))} -- the side with many rows first"
        )
    if missing := sorted(known.columns - shown.columns):
        yield Diagnosis(Cause.DESCRIPTION, _call("describe", element(missing[0]), "…"))
    for column, value, text in sorted(known.values - shown.values):
        coded = not text or len(value) <= CODE
        said = ("describe", element(column), f"{value}: …") if coded else ("allow_values", element(column))
        yield Diagnosis(Cause.VALUE, _call(*said))
    for formula in sorted(known.formulas - shown.formulas):
        yield Diagnosis(Cause.TERM, _call("define_term", database, "…", formula))


def _call(function: str, *arguments: str) -> str:
    words = (quote_literal(" ".join(each.split())) for each in arguments)
    return f"SELECT nl_catalog.{function}({', '.join(words)});"


def _parts(sql: str) -> _Parts | None:
    try:
        tree: Any = sqlglot.parse_one(sql, read="postgres")
    except SqlglotError:
        return None
    ours = {each.alias for each in tree.find_all(exp.CTE)}
    tables = [each for each in tree.find_all(exp.Table) if each.name not in ours]
    aliases = {each.alias_or_name: each.name for each in tables}
    written = {each.name: f"{each.db}.{each.name}".lstrip(".") for each in tables}
    for each in tree.find_all(exp.Column):
        table = aliases.get(each.table, each.table) or (next(iter(written)) if len(written) == 1 else "")
        each.set("table", exp.to_identifier(table or None))
    compared = [
        (each.this.sql(), other)
        for each in tree.find_all(exp.Binary, exp.In)
        for other in (each.expressions or [each.expression])
        if isinstance(each.this, exp.Column)
    ]
    formulas = (each for each in tree.find_all(*_FORMULAS) if not isinstance(each.parent, _FORMULAS))
    return _Parts(
        written,
        frozenset(each.sql() for each in tree.find_all(exp.Column)),
        frozenset(
            tuple(sorted((one, other.sql())))
            for one, other in compared
            if isinstance(other, exp.Column) and isinstance(other.parent, exp.EQ)
        ),
        frozenset(
            (one, each.name, each.is_string) for one, each in compared if isinstance(each, exp.Literal)
        ),
        frozenset(each.sql("postgres") for each in formulas if each.find(exp.Column)),
    )
