"""Rules about what a column holds that SQL has to take out: values in JSON, days in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from engine.rewrite.rule import Context, Statement

_SUMMED = (exp.Sum, exp.Avg)
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ)
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
        number = isinstance(node, _SUMMED) or _is_number(node.expression)
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


def _is_number(node: object) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def text_as_day(statement: Statement, context: Context) -> str | None:
    """Reads a column of texts that are days as days, where they are ordered, compared with a day, or taken apart."""
    forms = {each.column: each.date_form for each in context.contents if each.date_form}
    changed = []
    for column in list(_dated(statement.tree)) if forms else ():
        read = statement.scopes.reading(column)
        form = None if read is None or read.table is None else forms.get((*read.table.key, column.name))
        plain = isinstance(column.parent, (exp.Ordered, *_ORDERED, exp.Between))
        if form is None or (plain and form == _ISO):
            continue
        day = exp.Anonymous(this="TO_DATE", expressions=[column.copy(), exp.Literal.string(form)])
        # The type that it is cast to has been meant for the day; `to_date` gives it.
        (column.parent if isinstance(column.parent, exp.Cast) else column).replace(day)
        changed.append(f"{column.name} as a day, {form}")
    return f"reads {', '.join(dict.fromkeys(changed))}" if changed else None


def _dated(tree: exp.Query) -> Iterator[exp.Column]:
    """The columns that stand where a day is wanted."""
    for node in tree.find_all(exp.Ordered, *_ORDERED, exp.Between, *_PARTS):
        column = node.expression if isinstance(node, exp.Extract) else node.this
        others = [node.args.get(name) for name in ("expression", "low", "high")]
        texts = [other.name for other in others if isinstance(other, exp.Literal) and other.is_string]
        if isinstance(node, exp.Cast):
            wanted = node.to.this in exp.DataType.TEMPORAL_TYPES
        elif isinstance(node, exp.Ordered | exp.Extract | exp.TimestampTrunc | exp.DateTrunc | exp.TimeToStr):
            wanted = True
        else:
            wanted = any(map(_DAY.match, texts))
        if wanted and isinstance(column, exp.Column):
            yield column
