"""Rules about what a column holds that SQL has to take out: values in JSON, days in texts, members of arrays, ranges.

The last two are PostgreSQL docs 9.19 and 9.20.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.periods import period_of
from engine.link.contents import day_of
from engine.question.periods import Period, shortest
from engine.statement.read import Draft
from engine.statement.scope import Scopes
from engine.values import wording

_SUMMED = (exp.Sum, exp.Avg)
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ)
_COMPARED = (*_ORDERED, exp.Between)
_TEXTUAL = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
_PARTS = (exp.Extract, exp.TimestampTrunc, exp.DateTrunc, exp.TimeToStr, exp.Cast)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ISO = "YYYY-MM-DD"


def json_as_value(statement: Draft, _context: Context) -> str | None:
    """Takes a value out of JSON as a text where it is compared with one, and as a number where it is used as one."""
    changed = []
    for node in list(statement.tree.find_all(*_TEXTUAL)):
        if type(node.this) is exp.JSONExtract and _is_text(node):
            node.set("this", _scalar(node.this))
            changed.append(wording.AS_TEXT.format(node.this.sql(dialect="postgres")))
    for node in list(statement.tree.find_all(*_SUMMED, *_ORDERED)):
        number = isinstance(node, _SUMMED) or is_number(node.expression)
        if number and isinstance(node.this, exp.JSONExtract | exp.JSONExtractScalar):
            scalar = _scalar(node.this)
            node.set("this", exp.cast(exp.paren(scalar, copy=False), "numeric"))
            changed.append(wording.AS_NUMBER.format(scalar.sql(dialect="postgres")))
    return wording.of(wording.READS, changed)


def _scalar(node: exp.Expr) -> exp.JSONExtractScalar:
    return exp.JSONExtractScalar(
        **{name: part for name, part in node.copy().args.items() if part is not None}
    )


def _is_text(node: exp.Expr) -> bool:
    others = node.expressions if isinstance(node, exp.In) else [node.args.get("expression")]
    return any(isinstance(other, exp.Literal) and other.is_string for other in others)


def is_number(node: object) -> bool:
    """Whether it is a number that is written out."""
    return isinstance(node, exp.Literal) and not node.is_string


def text_as_day(statement: Draft, context: Context) -> str | None:
    """Reads a column of texts that are days as days, where they are ordered, compared with a day, or taken apart.

    A day that is written as the column has it is read as all of the period that the question names with it.
    """
    forms = {each.column: each.date_form for each in context.contents if each.date_form}
    periods = context.question.named_periods if forms else ()
    changed = []
    for node in list(statement.tree.find_all(exp.Ordered, *_COMPARED, *_PARTS)) if forms else ():
        column = node.expression if isinstance(node, exp.Extract) else node.this
        key = statement.scopes.key(column)
        form = forms.get(key) if key else None
        if form is None:
            continue
        day = exp.Anonymous(this="TO_DATE", expressions=[column.copy(), exp.Literal.string(form)])
        period = _period(node, form, periods)
        if period is not None:
            node.replace(period_of(day, period))
        elif _wants_day(node, form):
            # The type that it is cast to has been meant for the day; `to_date` gives it.
            (node if isinstance(node, exp.Cast) else column).replace(day)
        else:
            continue
        changed.append(wording.AS_DAY.format(column.name, form))
    return wording.of(wording.READS, changed)


def _period(node: exp.Expr, form: str, periods: Sequence[Period]) -> Period | None:
    """The shortest of some periods with the day that is equal to a column, written in its form."""
    said = node.expression if isinstance(node, exp.EQ) else None
    return shortest(periods, day_of(said.name, form) if isinstance(said, exp.Literal) else None)


def _wants_day(node: exp.Expr, form: str) -> bool:
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.TEMPORAL_TYPES
    if isinstance(node, _PARTS):
        return True
    others = [
        other
        for name in ("expression", "low", "high")
        if isinstance(other := node.args.get(name), exp.Literal)
    ]
    return form != _ISO and (isinstance(node, exp.Ordered) or any(_DAY.match(each.name) for each in others))


_HELD = {"daterange": "date", "tsrange": "timestamp", "tstzrange": "timestamptz"}
_HELD |= {"int4range": "int", "int8range": "bigint", "numrange": "numeric"}
"""Type of a range → type of what it holds."""


def as_member(statement: Draft, _context: Context) -> str | None:
    """Looks for a value within the range or the array that it is compared with."""
    return "; ".join(filter(None, (_in_range(statement), _in_array(statement)))) or None


def _in_range(statement: Draft) -> str | None:
    """A range that is compared with a value holds it; one between two overlaps what lies between them."""
    changed = []
    for node in list(statement.tree.find_all(exp.EQ, exp.Between)):
        kind = statement.scopes.type_of(node.this)
        if kind not in _HELD or isinstance(node.args.get("expression"), exp.Column):
            continue
        column = node.this.copy()
        if isinstance(node, exp.EQ):
            held = exp.cast(node.expression.copy(), _HELD[kind], dialect="postgres")
            node.replace(exp.ArrayContainsAll(this=column, expression=held))
        else:
            bounds = [node.args["low"].copy(), node.args["high"].copy(), exp.Literal.string("[]")]
            node.replace(
                exp.ArrayOverlaps(
                    this=column, expression=exp.Anonymous(this=kind.upper(), expressions=bounds)
                )
            )
        changed.append(column.name)
    return wording.of(wording.IN_RANGE, changed)


def _in_array(statement: Draft) -> str | None:
    """An array that is compared with a text has it as a member, of several texts any."""
    changed = []
    for node in list(statement.tree.find_all(*_TEXTUAL)):
        texts = _texts(node)
        if not texts or not _is_array(node.this, statement.scopes):
            continue
        array = node.this.copy()
        member: exp.Expr = exp.EQ(this=texts[0], expression=exp.Any(this=exp.paren(array)))
        if len(texts) > 1:
            member = exp.ArrayOverlaps(this=array, expression=exp.Array(expressions=texts))
        node.replace(exp.not_(member) if isinstance(node, exp.NEQ) else member)
        changed.append(node.this.name)
    return wording.of(wording.FOR_MEMBER, changed)


def _texts(node: exp.Expr) -> list[exp.Expr]:
    """The texts that a node compares with, of a pattern what stands between its percent signs."""
    given = node.expressions if isinstance(node, exp.In) else [node.expression]
    if not all(isinstance(each, exp.Literal) and each.is_string for each in given):
        return []
    if not isinstance(node, exp.Like | exp.ILike):
        return [each.copy() for each in given]
    return [exp.Literal.string(given[0].name.removeprefix("%").removesuffix("%"))]


def _is_array(node: object, scopes: Scopes) -> bool:
    return scopes.type_of(node).endswith("[]")
