"""Rules about what is measured: what a superlative sorts by, and whether rows or their averages are compared."""

from __future__ import annotations

import re

from sqlglot import exp

from engine.conditions.types import Operator
from engine.rewrite.join_tree import conjuncts
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes, identifier
from schema_catalog.types import ColumnKey

ASKED = 0.5
"""Least probability of an operator, or of a column, that the question asks for."""

_NUMBER = re.compile(r"bigint|integer|smallint|numeric.*|double precision|real")
_COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def sort_by_asked(statement: Statement, context: Context) -> str | None:
    """ORDER BY COUNT(*) as ORDER BY the column of numbers that the question is about and is not read."""
    tree = statement.tree
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select) or order is None or len(order.expressions) != 1:
        return None
    sorted_by = order.expressions[0].this
    shown = [item for item in tree.expressions if item.find(exp.AggFunc)]
    if not isinstance(sorted_by, exp.Count) or shown or tree.args.get("having"):
        return None
    found = _asked_measure(tree, statement.scopes, context)
    if found is None:
        return None
    sorted_by.replace(exp.column(identifier(found[1][2]), identifier(found[0])))
    tree.set("group", None)
    return f"sorts by {found[1][1]}.{found[1][2]} instead of counting"


def _asked_measure(tree: exp.Select, scopes: Scopes, context: Context) -> tuple[str, ColumnKey] | None:
    """(name in FROM, column) of the numbers that the question is most likely about; None below `ASKED`."""
    read = {
        (*found.table.key, column.name)
        for column in tree.find_all(exp.Column)
        if (found := scopes.reading(column)) and found.table
    }
    known = [
        (context.linked.get(key, 0.0), each.name, key)
        for each in scopes.reads[id(tree)]
        if each.table is not None
        for column in each.table.columns
        if (key := (*each.table.key, column.name)) not in read
        and _NUMBER.fullmatch(column.type)
        and not context.references.counterparts(key)
        and column.name not in each.table.primary_key
    ]
    best = max(known, default=None)
    return None if best is None or best[0] < ASKED else best[1:]


def compare_averages(statement: Statement, context: Context) -> str | None:
    """`WHERE c > 10` as `GROUP BY … HAVING AVG(c) > 10`, by what is shown, where the question asks for an average."""
    tree = statement.tree
    if (
        not isinstance(tree, exp.Select)
        or context.operators.get(Operator.AVG, 0.0) < ASKED
        or tree.find(exp.AggFunc)
    ):
        return None
    where, shown = tree.args.get("where"), [item.unalias() for item in tree.expressions]
    tests = [] if where is None else list(conjuncts(where.this))
    compared = [test for test in tests if _compares_number(test, statement.scopes)]
    if not compared or tree.args.get("order") or not all(isinstance(each, exp.Column) for each in shown):
        return None
    test = compared[-1]
    kept = [each for each in tests if each is not test]
    tree.set("where", exp.Where(this=exp.and_(*kept, copy=False)) if kept else None)
    tree.set("distinct", None)
    tree.set("group", exp.Group(expressions=[each.copy() for each in shown]))
    column = test.this
    column.replace(exp.Avg(this=column.copy()))
    tree.set("having", exp.Having(this=test))
    return f"compares the average of {column.name}"


def _compares_number(test: exp.Expr, scopes: Scopes) -> bool:
    if (
        not isinstance(test, _COMPARISONS)
        or not isinstance(test.this, exp.Column)
        or not isinstance(test.expression, exp.Literal)
    ):
        return False
    read = scopes.reading(test.this)
    types = (
        {} if read is None or read.table is None else {each.name: each.type for each in read.table.columns}
    )
    return _NUMBER.fullmatch(types.get(test.this.name, "")) is not None
