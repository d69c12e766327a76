"""A SELECT in words, by rule: its outputs, tables, conditions, groups and order. None of it is SQL."""

from __future__ import annotations

from sqlglot import exp

from engine.dialogue.expressions import Reader
from engine.sql.tree import parsed

_SHORT = 80
"""Characters of a condition, or of what is computed."""

_READER = Reader(None, {})


def describe(sql: str) -> str:
    """One line for a person who will not read the SQL; empty where `sql` cannot be parsed."""
    tree = parsed(sql)
    select = None if tree is None else tree.find(exp.Select)
    if tree is None or select is None:
        return ""
    parts = [_outputs(select), _origin(select)]
    for key, words in (("where", "where"), ("having", "having")):
        clause = select.args.get(key)
        if clause is not None:
            parts.append(f"{words} {_text(clause.this)}")
    if (group := select.args.get("group")) is not None:
        parts.append("for each " + ", ".join(_name(e) for e in group.expressions))
    if (order := tree.args.get("order")) is not None:
        parts.append("ordered by " + ", ".join(_sort(e) for e in order.expressions))
    if (limit := tree.args.get("limit")) is not None and limit.expression is not None:
        parts.append(f"limited to {_text(limit.expression)}")
    if isinstance(tree, exp.SetOperation):
        parts.append(f"combined by {tree.key}")
    return " ".join(part for part in parts if part)


def _outputs(select: exp.Select) -> str:
    distinct = "distinct " if select.args.get("distinct") else ""
    return distinct + ", ".join(_name(expression) for expression in select.expressions)


def _origin(select: exp.Select) -> str:
    names = [t.name for t in select.find_all(exp.Table) if t.parent_select is select]
    return "from " + " with ".join(dict.fromkeys(names)) if names else ""


def _name(expression: exp.Expression) -> str:
    if isinstance(expression, exp.Column) and not isinstance(expression.this, exp.Star):
        return expression.name
    if isinstance(expression, exp.Count) and isinstance(expression.this, exp.Star):
        return "number of rows"
    if isinstance(expression, exp.Alias):
        return _name(expression.this)
    return _text(expression)


def _sort(expression: exp.Expression) -> str:
    descending = isinstance(expression, exp.Ordered) and expression.args.get("desc")
    return _name(expression.this) + (" descending" if descending else "")


def _text(expression: exp.Expression) -> str:
    text = " ".join(str(part) for part in _READER.parts(expression))
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
