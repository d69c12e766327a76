"""Whether a recursive query doubles its texts or arrays with each round, as `SELECT s || s FROM r` does.

Owns that one analysis. The length of a column is linear in the columns of the round before; it grows exponentially
exactly where a strongly connected set of columns has more dependencies than one cycle has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pglast import ast

from engine.guard.measures import parts_of

_JOINING = frozenset(
    {"concat", "concat_ws", "format", "array_cat", "array_append", "array_prepend", "overlay"}
)
_REPLACING = frozenset({"replace", "regexp_replace", "array_replace"})
_MULTIPLYING = frozenset(
    {"repeat", "quote_literal", "quote_nullable", "quote_ident", "encode", "array_to_string"}
)


def multiplies(query: Any) -> bool:
    """Whether the WITH query (`CommonTableExpr`) grows exponentially; False for one that is not recursive."""
    select = query.ctequery
    if not isinstance(select, ast.SelectStmt) or select.rarg is None:
        return False
    columns = _columns(query, select)
    aliases = set(_aliases(select.rarg, query.ctename))
    targets = select.rarg.targetList or ()
    edges: Counter[tuple[str, str]] = Counter()
    for column, target in zip(columns, targets, strict=False):
        for source, times in _sources(target, set(columns), aliases).items():
            edges[column, source] = times
    return _more_than_once_around(edges)


def _columns(query: Any, select: Any) -> list[str]:
    if query.aliascolnames:
        return [name.sval for name in query.aliascolnames]
    first = select.larg
    while first.larg is not None:
        first = first.larg
    return [_output_name(target) for target in first.targetList or ()]


def _output_name(target: Any) -> str:
    if target.name:
        return str(target.name)
    fields: Any = target.val.fields if isinstance(target.val, ast.ColumnRef) else None
    last = fields[-1] if fields else None
    return str(last.sval) if isinstance(last, ast.String) else "?column?"


def _aliases(part: Any, name: str) -> Iterator[str]:
    """The query's aliases in its own recursive term; none where it does not refer to itself."""
    for node in _all(part):
        if isinstance(node, ast.RangeVar) and node.relname == name and not node.schemaname:
            yield str(node.alias.aliasname) if node.alias else name


def _sources(target: Any, columns: set[str], aliases: set[str]) -> Counter[str]:
    """Columns of the previous round → how often the new value may contain each."""
    found: Counter[str] = Counter()
    nodes = list(_all(target))
    if not aliases or not any(_joins(node) for node in nodes):
        return found
    factor = 2 if any(_enlarges(node) for node in nodes) else 1
    for node in nodes:
        fields: Any = node.fields if isinstance(node, ast.ColumnRef) else ()
        if fields and isinstance(fields[-1], ast.String):
            *qualifier, name = (part.sval for part in fields)
            if name in columns and (not qualifier or qualifier[-1] in aliases):
                found[str(name)] += factor
    return found


def _joins(node: Any) -> bool:
    if type(node) is ast.A_Expr:
        return bool(_last(node.name) == "||")
    called = _last(node.funcname) if type(node) is ast.FuncCall else None
    return called in _JOINING or called in _REPLACING or called in _MULTIPLYING


def _enlarges(node: Any) -> bool:
    if type(node) is not ast.FuncCall:
        return False
    name, arguments = _last(node.funcname), node.args or ()
    if name in _REPLACING and len(arguments) > 2:  # noqa: PLR2004 - with a replacement
        new: Any = arguments[2]
        return not (type(new) is ast.A_Const and isinstance(new.val, ast.String) and not new.val.sval)
    return name in _MULTIPLYING


def _last(name: Any) -> str:
    return str(name[-1].sval)


def _more_than_once_around(edges: Counter[tuple[str, str]]) -> bool:
    """Whether a strongly connected component has more edges than a single cycle."""
    reach = {column: {column} for edge in edges for column in edge}
    changed = True
    while changed:
        changed = False
        for column, source in edges:
            before = len(reach[column])
            reach[column] |= reach[source]
            changed |= len(reach[column]) > before
    for column, reached in reach.items():
        circle = {other for other in reached if column in reach[other]}
        inside = sum(times for (one, other), times in edges.items() if {one, other} <= circle)
        if inside > len(circle):
            return True
    return False


def _all(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(parts_of(node))
