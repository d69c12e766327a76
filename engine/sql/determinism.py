"""Whether a statement returns the same rows each time on the same data, and the literals and functions that decide.

Owns that analysis alone, on PostgreSQL's own parse tree. Results of the volatile functions that the guard allows
(`random()`, `gen_random_uuid()`…) prove nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pglast import ast

from engine.guard.analyse import analyse

_CLOCK = frozenset({"now", "age", "statement_timestamp", "transaction_timestamp"})
"""Functions whose result depends on when they run; `age` with one argument counts from today."""

_CLOCK_WORD = re.compile(r"'\s*(now|today|tomorrow|yesterday)\s*'", re.IGNORECASE)
"""Literals that PostgreSQL reads as the current time (docs 8.5.1.4)."""

_LIMITS = frozenset({"limitCount", "limitOffset"})


@dataclass(frozen=True, slots=True)
class Determinism:
    """`repeatable`: neither the clock, chance, nor an arbitrary choice of rows decides. `ordered`: by its own ORDER BY.

    `literals` as written, those of LIMIT apart; `functions` by name.
    """

    repeatable: bool
    ordered: bool
    literals: frozenset[str]
    functions: frozenset[str]


def determinism(sql: str) -> Determinism:
    """The analysis of one query; raises `engine.guard.analyse.UnreadableError` where `sql` is no query."""
    analysis = analyse(sql)
    tree = analysis.tree
    nodes = list(_nodes(tree))
    selects = [node for node in nodes if isinstance(node, ast.SelectStmt)]
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
        literals=frozenset(_literal(node) for node in nodes if isinstance(node, ast.A_Const)),
        functions=frozenset(name[-1] for name in analysis.functions),
    )


def _literal(node: ast.A_Const) -> str:
    value = node.val
    return "NULL" if value is None or node.isnull else str(value(skip_none=True))


def _nodes(root: object) -> Iterator[Any]:
    stack = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
        elif isinstance(part, ast.Node):
            node: Any = part
            yield node
            stack.extend(getattr(node, slot) for slot in node.__slots__ if slot not in _LIMITS)
