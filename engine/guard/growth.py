"""How large the results of a statement's expressions can be: the longest text, the most rows, the largest numbers.

Owns the measures, bottom up over the parse tree: length, numeric bounds and rows of each value. The limits are the
policy's. A value that depends on data counts as short and as one row, but as a number it is unknown: `repeat('x', n)`
has no bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pglast import ast

from engine.guard import bounds
from engine.guard.allowed import DEAR_OF, DEAR_OPERATORS
from engine.guard.bounds import UNKNOWN, Bound
from engine.guard.calls import measure_call
from engine.guard.measures import (
    COLUMN,
    FIRST,
    NOTHING,
    Evaluation,
    Growth,
    Measure,
    Quantity,
    most_gathered,
    most_rows,
    one_of,
    parts_of,
)
from engine.guard.recursion import multiplies


def growth(root: ast.Node) -> tuple[Growth, ...]:
    """The growths of a statement, in the order of evaluation."""
    evaluation = Evaluation()
    # No recursion, as in `engine.guard.analyse`: a node is visited before its parts and again after them.
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            evaluation.measures[id(node)] = _MEASURES.get(type(node), _sum_of_parts)(node, evaluation)
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(list(parts_of(node))))
    steps = (growth.amount for growth in evaluation.found if growth.quantity is Quantity.PAIRS)
    evaluation.note(Quantity.PAIRS, "the statement", sum(steps))
    return tuple(evaluation.found)


def _sum_of_parts(node: Any, evaluation: Evaluation) -> Measure:
    """The measure of a node that has no rule of its own: the sum of its parts."""
    parts = [evaluation.of(part) for part in parts_of(node)]
    return Measure(sum(p.size for p in parts), UNKNOWN, most_rows(parts), most_gathered(parts))


def _constant(node: Any, evaluation: Evaluation) -> Measure:
    match node.val:
        case ast.Integer(ival=number):
            return Measure(float(len(str(number or 0))), bounds.exactly(float(number or 0)))
        case ast.Float(fval=str(text)) | ast.String(sval=str(text)) | ast.BitString(bsval=str(text)):
            digits = bounds.written_digits(text)
            evaluation.digits += digits if digits > COLUMN else 0.0
            evaluation.descents += text.count("**")
            return Measure(float(len(text)), bounds.literal(text))
    return Measure(1.0)


def _column(_: Any, evaluation: Evaluation) -> Measure:
    return Measure(evaluation.longest)


def _clock(_: Any, __: Evaluation) -> Measure:
    return Measure(value=bounds.NOW)


_PADDED = frozenset({"bpchar", "bit"})


def _type(node: Any, evaluation: Evaluation) -> Measure:
    """A type that pads its values: as long as it says, wherever it is named."""
    name, modifiers = node.names[-1].sval, evaluation.each(node.typmods)
    evaluation.named.add(name)
    if name not in _PADDED or not modifiers:
        return NOTHING
    return evaluation.text(name, modifiers[0].value.high)


def _cast(node: Any, evaluation: Evaluation) -> Measure:
    argument = evaluation.of(node.arg)
    if node.typeName.names[-1].sval == "jsonpath" and not isinstance(node.arg, ast.A_Const):
        evaluation.descents = math.inf
    size = max(argument.size, evaluation.of(node.typeName).size)
    doubled = isinstance(node.arg, ast.RowExpr | ast.A_ArrayExpr | ast.FuncCall | ast.TypeCast)
    if doubled and node.typeName.names[-1].sval in _TEXTS:
        size *= 2  # quotes and backslashes inside are doubled
    return replace(argument, size=size)


_TEXTS = frozenset({"text", "varchar", "bpchar", "char", "name"})

_PATHS = frozenset({"@?", "@@"})

_ARITHMETIC: dict[str, Callable[[Bound, Bound], Bound]] = {
    "+": bounds.add,
    "-": bounds.subtract,
    "*": bounds.multiply,
    "/": bounds.divide,
    "^": bounds.power,
    "%": bounds.modulo,
}


def _operation(node: Any, evaluation: Evaluation) -> Measure:
    name = node.name[-1].sval
    left, right = evaluation.of(node.lexpr), evaluation.of(node.rexpr)
    both = [left, right]
    if node.kind.name == "AEXPR_NULLIF":
        return left
    if name == "||":
        size = left.size + right.size
        evaluation.note(Quantity.CHARACTERS, name, size)
        return Measure(size, UNKNOWN, most_rows(both), most_gathered(both))
    if name in DEAR_OPERATORS or evaluation.names(DEAR_OF.get(name, ())):
        evaluation.product(name, (left.size, right.size))
    if name in _PATHS:
        evaluation.path(name, left.size)
    if name == "^":
        evaluation.note(Quantity.DIGITS, name, bounds.digits(left.value, right.value))
    evaluation.numbers(name, 2)
    if name in _ARITHMETIC and node.rexpr is not None:
        first = left.value if node.lexpr is not None else bounds.exactly(0.0, time=right.value.time)
        return replace(one_of(both, _ARITHMETIC[name](first, right.value)), size=COLUMN)
    return replace(one_of(both, UNKNOWN), size=max(COLUMN, left.size, right.size))


def _extreme(node: Any, evaluation: Evaluation) -> Measure:
    found = evaluation.each(node.args)
    of = bounds.least if node.op.name == "IS_LEAST" else bounds.greatest
    return one_of(found, of(m.value for m in found))


def _alternative(node: Any, evaluation: Evaluation) -> Measure:
    """COALESCE, CASE and its branches: one of the results."""
    if isinstance(node, ast.CaseWhen):
        return evaluation.of(node.result)
    parts: list[object] = [*(node.args or ())]
    if isinstance(node, ast.CaseExpr) and node.defresult is not None:
        parts.append(node.defresult)
    found = evaluation.each(parts)
    return one_of(found, bounds.hull(m.value for m in found))


def _subquery(node: Any, evaluation: Evaluation) -> Measure:
    """A scalar subquery is its value, ARRAY(…) all of its rows, any other a boolean."""
    inner = evaluation.of(node.subselect)
    if node.subLinkType.name == "EXPR_SUBLINK":
        return replace(inner, gathered=0.0)
    if node.subLinkType.name == "ARRAY_SUBLINK":
        evaluation.note(Quantity.GATHERED, "ARRAY", inner.size * inner.rows)
        return Measure(inner.size * inner.rows, UNKNOWN, inner.rows)
    return Measure(5.0, UNKNOWN, inner.rows)


def _relation(node: Any, evaluation: Evaluation) -> Measure:
    return Measure(
        evaluation.longest, UNKNOWN, 1.0 if node.schemaname else evaluation.rows.get(node.relname, 1.0)
    )


def _functions_in_from(node: Any, evaluation: Evaluation) -> Measure:
    calls = [evaluation.of(call) for call, _ in node.functions]
    evaluation.longest = max(evaluation.longest, *(call.size for call in calls))
    return one_of(calls, UNKNOWN)


def _join(node: Any, evaluation: Evaluation) -> Measure:
    return Measure(COLUMN, UNKNOWN, evaluation.of(node.larg).rows * evaluation.of(node.rarg).rows)


def _with_query(node: Any, evaluation: Evaluation) -> Measure:
    if multiplies(node):
        evaluation.note(Quantity.CHARACTERS, f"WITH RECURSIVE {node.ctename}", math.inf)
    query = evaluation.of(node.ctequery)
    evaluation.rows[node.ctename] = max(query.rows, evaluation.rows.get(node.ctename, 1.0))
    return query


def _select(node: Any, evaluation: Evaluation) -> Measure:
    """A query: the rows of FROM multiply with each other and with those of the expressions."""
    if node.larg is not None:
        arms = [evaluation.of(node.larg), evaluation.of(node.rarg)]
        evaluation.note(Quantity.ROWS, "the query", sum(a.rows for a in arms))
        return replace(one_of(arms, bounds.hull(a.value for a in arms)), rows=sum(a.rows for a in arms))
    lists = [evaluation.each(row) for row in node.valuesLists or ()]
    targets = [*evaluation.each(node.targetList), *(value for row in lists for value in row)]
    expressions = [*targets, *(evaluation.of(part) for part in parts_of(node, without=FIRST))]
    sources = math.prod(m.rows for m in evaluation.each(node.fromClause))
    rows = max(sources * most_rows(expressions), float(len(lists)))
    gathered = most_gathered(expressions) * sources
    evaluation.note(Quantity.ROWS, "the query", rows)
    evaluation.note(Quantity.GATHERED, "an aggregate", gathered)
    size = max([gathered, *(m.size for m in targets)])
    evaluation.longest = max(evaluation.longest, size)
    first = [row[0] for row in lists if row] or targets[:1]
    return Measure(size, bounds.hull(m.value for m in first), rows)


def _json_gathering(node: Any, evaluation: Evaluation) -> Measure:
    made = _sum_of_parts(node, evaluation)
    return replace(made, gathered=made.size)


def _json_path(node: Any, evaluation: Evaluation) -> Measure:
    """JSON_QUERY, JSON_VALUE, JSON_EXISTS and JSON_TABLE."""
    evaluation.named.add("json")
    made = _sum_of_parts(node, evaluation)
    evaluation.path("a path of JSON", made.size)
    return made


_MEASURES: dict[type[ast.Node], Callable[[Any, Evaluation], Measure]] = {
    ast.A_Const: _constant,
    ast.ColumnRef: _column,
    ast.SQLValueFunction: _clock,
    ast.TypeCast: _cast,
    ast.A_Expr: _operation,
    ast.MinMaxExpr: _extreme,
    ast.CoalesceExpr: _alternative,
    ast.CaseExpr: _alternative,
    ast.CaseWhen: _alternative,
    ast.ResTarget: lambda node, evaluation: evaluation.of(node.val),
    ast.SubLink: _subquery,
    ast.RangeVar: _relation,
    ast.RangeSubselect: lambda node, evaluation: evaluation.of(node.subquery),
    ast.RangeFunction: _functions_in_from,
    ast.JoinExpr: _join,
    ast.CommonTableExpr: _with_query,
    ast.JsonArrayAgg: _json_gathering,
    ast.JsonObjectAgg: _json_gathering,
    ast.JsonFuncExpr: _json_path,
    ast.JsonTable: _json_path,
    ast.SelectStmt: _select,
    ast.FuncCall: measure_call,
    ast.TypeName: _type,
    ast.NamedArgExpr: lambda node, evaluation: evaluation.of(node.arg),
}
"""The rule of each class of node; any other node is the sum of its parts."""
