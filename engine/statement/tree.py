"""A statement read: as a tree, and whether it gives the same rows each time.

A statement as sqlglot's tree: parsed once for a text, shared, and not to be changed.

Whether a statement returns the same rows each time on the same data, and the literals and functions that decide.

Owns that analysis alone, on PostgreSQL's own parse tree. Results of the volatile functions that the guard allows
(`random()`, `gen_random_uuid()`…) prove nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from pglast import ast
from sqlglot import exp

from engine.guard.analyse import analyse
from engine.statement.printing.trees import nodes

KEPT_CHARACTERS = 4_000
"""Longer statements are not cached, so that the cache stays below a few MiB."""

KEPT = 128


def parsed(sql: str) -> exp.Query | None:
    """The tree of a query, with unquoted names in lower case; None where `sql` is no query that sqlglot can parse.

    The tree is cached: copy it before changing it.
    """
    return _kept(sql) if len(sql) <= KEPT_CHARACTERS else _parsed(sql)


def _parsed(sql: str) -> exp.Query | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="postgres")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Query):
        return None
    for name in tree.find_all(exp.Identifier):
        if not name.quoted:
            name.set("this", name.name.lower())
    return tree


def unwrapped(node: exp.Expr) -> exp.Expr:
    """What a node says without its alias, parentheses, type and rounding."""
    while isinstance(node, exp.Alias | exp.Paren | exp.Cast | exp.Round):
        node = node.this
    return node


_TESTS = (
    exp.Is,
    exp.NEQ,
    exp.NullSafeNEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Like,
    exp.ILike,
    exp.Between,
)

_MIRRORED = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}


def conditions(tree: exp.Query) -> frozenset[str]:
    """What WHERE and HAVING test otherwise than by equality, each as kind of test and columns; its literals apart.

    Without tests for NULL of what is sorted by or aggregated, which NULL has no part in anyway.
    """
    valued = {
        column.name
        for node in tree.find_all(exp.AggFunc, exp.Ordered)
        for column in node.find_all(exp.Column)
    }
    found = []
    for clause in tree.find_all(exp.Where, exp.Having):
        for test in clause.find_all(*_TESTS, exp.EQ, exp.In, exp.Column):
            outer = test.parent.parent if isinstance(test.parent, exp.Paren) else test.parent
            denied = isinstance(outer, exp.Not) != bool(test.args.get("negate"))
            if isinstance(test, exp.Column):
                if not isinstance(outer, exp.Connector | exp.Not | exp.Where | exp.Having):
                    continue
            elif isinstance(test, exp.EQ | exp.In) and not denied:
                continue
            columns = sorted(each.name for each in test.find_all(exp.Column))
            if not (isinstance(test, exp.Is) and denied and valued.issuperset(columns)):
                key = _MIRRORED.get(test.key, test.key) if isinstance(test.this, exp.Literal) else test.key
                found.append(" ".join(["not" if denied else "", key, *columns]))
    return frozenset(found)


def repeated_items(tree: exp.Query) -> list[exp.Expr]:
    """The items of a SELECT that stand in it before, without their names; none of a set operation."""
    seen: set[str] = set()
    repeated = []
    for item in tree.expressions if isinstance(tree, exp.Select) else ():
        shown = item.unalias()
        text = shown.sql()
        if text in seen and shown.find(exp.Column):
            repeated.append(shown)
        seen.add(text)
    return repeated


_kept = lru_cache(maxsize=KEPT)(_parsed)


_CLOCK = frozenset({"now", "age", "statement_timestamp", "transaction_timestamp"})
"""Functions whose result depends on when they run; `age` with one argument counts from today."""

_CLOCK_WORD = re.compile(r"'\s*(now|today|tomorrow|yesterday)\s*'", re.IGNORECASE)
"""Literals that PostgreSQL reads as the current time (docs 8.5.1.4)."""

_LIMITS = frozenset({"limitCount", "limitOffset"})


@dataclass(frozen=True, slots=True)
class Determinism:
    """`repeatable`: neither the clock, chance, nor an arbitrary choice of rows decides. `ordered`: by its own ORDER BY.

    `literals` as written, those of LIMIT apart; `functions` by name; `conditions` as `conditions` has them.
    """

    repeatable: bool
    ordered: bool
    literals: frozenset[str]
    functions: frozenset[str]
    conditions: frozenset[str] = frozenset()


def determinism(sql: str) -> Determinism:
    """The analysis of one query; raises `engine.guard.analyse.UnreadableError` where `sql` is no query."""
    analysis = analyse(sql)
    tree = analysis.tree
    parts = list(nodes(tree, _LIMITS))
    selects = [node for node in parts if isinstance(node, ast.SelectStmt)]
    arbitrary = any(
        (select.limitCount is not None or select.limitOffset is not None) and not select.sortClause
        for select in selects
    ) or any(select.distinctClause and select.distinctClause[0] is not None for select in selects)
    clock = (
        "SQLValueFunction" in analysis.nodes
        or any(name[-1] in _CLOCK for name in analysis.functions)
        or _CLOCK_WORD.search(analysis.body) is not None
    )
    return Determinism(
        repeatable=analysis.repeatable and not arbitrary and not clock and not analysis.sampling,
        ordered=isinstance(tree, ast.SelectStmt) and bool(tree.sortClause),
        literals=frozenset(_literal(node) for node in parts if isinstance(node, ast.A_Const)),
        functions=frozenset(name[-1] for name in analysis.functions),
        conditions=frozenset() if (read := parsed(sql)) is None else conditions(read),
    )


def _literal(node: ast.A_Const) -> str:
    value = node.val
    return "NULL" if value is None or node.isnull else str(value(skip_none=True))
