"""Rules about what a column holds that SQL has to take out: values in JSON, days in texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from engine.linking.contents import day_of
from engine.linking.periods import Period, named_periods, shortest
from engine.rewrite.rule import Context, Statement
from engine.rewrite.rules.periods import period_of

_SUMMED = (exp.Sum, exp.Avg)
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ)
_COMPARED = (*_ORDERED, exp.Between)
_TEXTUAL = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
_PARTS = (exp.Extract, exp.TimestampTrunc, exp.DateTrunc, exp.TimeToStr, exp.Cast)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ISO = "YYYY-MM-DD"


def json_as_value(statement: Statement, _context: Context) -> str | None:
    """Takes a value out of JSON as a text where it is compared with one, and as a number where it is used as one."""
    changed = []
    for node in list(statement.tree.find_all(*_TEXTUAL)):
        if type(node.this) is exp.JSONExtract and _is_text(node):
            node.set("this", _scalar(node.this))
            changed.append(f"{node.this.sql(dialect='postgres')} as a text")
    for node in list(statement.tree.find_all(*_SUMMED, *_ORDERED)):
        number = isinstance(node, _SUMMED) or is_number(node.expression)
        if number and isinstance(node.this, exp.JSONExtract | exp.JSONExtractScalar):
            scalar = _scalar(node.this)
            node.set("this", exp.cast(exp.paren(scalar, copy=False), "numeric"))
            changed.append(f"{scalar.sql(dialect='postgres')} as a number")
    return f"reads {', '.join(dict.fromkeys(changed))}" if changed else None


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


def text_as_day(statement: Statement, context: Context) -> str | None:
    """Reads a column of texts that are days as days, where they are ordered, compared with a day, or taken apart.

    A day that is written as the column has it is read as all of the period that the question names with it.
    """
    forms = {each.column: each.date_form for each in context.contents if each.date_form}
    periods = named_periods(context.question) if forms else ()
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
        changed.append(f"{column.name} as a day, {form}")
    return f"reads {', '.join(dict.fromkeys(changed))}" if changed else None


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
