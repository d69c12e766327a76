"""Rules about sums and shares: numbers that are counted or shown as they are, whole numbers that are divided.

PostgreSQL divides whole numbers without what is behind the point (docs 9.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from engine.findings.rule import Context, Statement
from engine.question.dimensions import asked_dimensions
from engine.question.tokens import identifier_words
from engine.statement.scope import Scopes
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import Column

_NO_AMOUNTS = frozenset({"id", "code", "key", "date", "time", "year", "month", "day"})
_NUMBERS = ("smallint", "int", "bigint", "numeric", "real", "double", "money")

_TOTAL = re.compile(r"\btotal\b|\bhow (?:many|much)\b", re.IGNORECASE)


def sum_counted(statement: Statement, _context: Context) -> str | None:
    """Adds up what is counted where it is no row and no key, but a number itself: the people of a country."""
    changed = []
    for count, name in counted_measures(statement):
        count.replace(exp.Sum(this=count.this))
        changed.append(name)
    return f"adds up {', '.join(changed)} instead of counting" if changed else None


def asked_total(statement: Statement, context: Context) -> str | None:
    """Adds up the one column of numbers that is shown as it is, where the question asks how many, or for a total."""
    column = _shown_measure(statement)
    if column is None or not _asks_for_total(context.question, column.name):
        return None
    statement.tree.set("distinct", None)
    statement.tree.set("expressions", [exp.Sum(this=column.copy())])
    return f"adds up {column.name}"


def counted_measures(statement: Statement) -> list[tuple[exp.Count, str]]:
    """Each COUNT that is shown of a column of numbers which is no key, with the column's name; not of DISTINCT ones."""
    select = statement.tree
    items = select.expressions if isinstance(select, exp.Select) else []
    counts = (count for item in items for count in item.find_all(exp.Count) if count.parent_select is select)
    return [(count, count.this.name) for count in counts if is_measure(count.this, statement.scopes)]


def is_measure(counted: object, scopes: Scopes) -> bool:
    """Whether it is a column of numbers of a table, and no key."""
    key, column = scopes.key(counted), scopes.stored(counted)
    if key is None or column is None or not _is_number(column):
        return False
    referred = foreign_key_graph(scopes.snapshot).counterparts(key)
    return column.name not in scopes.tables[key[:2]].primary_key and not referred


def _is_number(column: Column) -> bool:
    """Whether a column holds amounts, by its type and its name: a year or a code is none."""
    last = (identifier_words(column.name) or ("",))[-1]
    is_number = column.type.startswith(_NUMBERS) and not column.type.startswith("interval")
    return is_number and last not in _NO_AMOUNTS


def _asks_for_total(question: str, name: str) -> bool:
    """Whether a question asks for one total of numbers, which no column called `name` holds by its name."""
    words = identifier_words(name)
    return _TOTAL.search(question) is not None and "total" not in words and not asked_dimensions(question)


def _shown_measure(statement: Statement) -> exp.Column | None:
    """The column of numbers that a statement shows as it is, alone, without groups, order and limit."""
    select = statement.tree
    if not isinstance(select, exp.Select) or len(select.expressions) != 1:
        return None
    if any(select.args.get(part) for part in ("group", "having", "order", "limit")):
        return None
    column = select.expressions[0].unalias()
    return column if isinstance(column, exp.Column) and is_measure(column, statement.scopes) else None


_WHOLE_WANTED = re.compile(r"\b(?:whole|integers?|floor|rounded down|decades?)\b", re.IGNORECASE)

_KEPT = (
    exp.Sum,
    exp.Paren,
    exp.Filter,
    exp.Window,
    exp.Min,
    exp.Max,
    exp.Abs,
    exp.Neg,
    exp.Nullif,
    exp.Alias,
)
"""What gives a whole number of a whole number, its first argument."""


def exact_division(statement: Statement, context: Context) -> str | None:
    """Divides numbers of rows and sums of whole numbers exactly."""
    found = list(whole_divisions(statement, context.question))
    for each in found:
        each.set("this", exp.cast(each.this.copy(), "numeric"))
    return "divides exactly" if found else None


def whole_divisions(statement: Statement, question: str) -> Iterator[exp.Div]:
    """The divisions of whole numbers one of which is of several rows, unless `question` wants a whole number."""
    if _WHOLE_WANTED.search(question):
        return
    for each in statement.tree.find_all(exp.Div):
        if each.left.find(exp.AggFunc) and all(
            _is_whole(side, statement.scopes) for side in (each.left, each.right)
        ):
            yield each


def _is_whole(node: exp.Expr, scopes: Scopes) -> bool:
    """Whether PostgreSQL has a whole number for it. A sum of bigint, which counts are, is numeric."""
    if isinstance(node, exp.Literal):
        return bool(node.is_int)
    if isinstance(node, exp.Column):
        return scopes.type_of(node) in {"smallint", "integer", "bigint"}
    if isinstance(node, exp.Sum) and _is_long(node, scopes):
        return False
    parts, cast = _parts(node), isinstance(node, exp.Cast) and node.is_type("int", "smallint", "bigint")
    return (
        cast
        or isinstance(node, exp.Count)
        or (bool(parts) and all(_is_whole(each, scopes) for each in parts))
    )


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """What has to be whole for a node to be so; nothing where that does not follow."""
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return [node.left, node.right]
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        given = [branch.args["true"] for branch in node.args["ifs"]] + ([default] if default else [])
        return [each for each in given if not isinstance(each, exp.Null)]
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
        return node.this.expressions if len(node.this.expressions) == 1 else []
    return [node.this] if isinstance(node, _KEPT) else []


def _is_long(node: exp.Sum, scopes: Scopes) -> bool:
    summed = map(scopes.type_of, node.find_all(exp.Column))
    cast = any(each.is_type("bigint") for each in node.find_all(exp.Cast))
    return cast or node.find(exp.Count) is not None or "bigint" in summed
