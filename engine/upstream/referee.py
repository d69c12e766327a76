"""Whether two texts mean the same to the server: the statement as written, and as it would run outside of the frame.

Owns the comparison of their plans and of what a plan does not show. Nothing is run: both texts are planned along the
trusted path. See docs/security.md, "What is sent".
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import is_
from typing import Any

import asyncpg
from pglast import ast, enums, parse_sql
from pglast.parser import ParseError

from engine.guard.analyse import written_name
from engine.statement.printing.names import Kind, Names
from engine.statement.printing.trees import children, nodes, same
from engine.upstream.meter import MeteredConnection

_EXPLAIN = "EXPLAIN (VERBOSE, COSTS OFF) "

_SHOWN = 17
"""The first version whose plans show the comparison with a subquery."""

_REFUSALS = ("0A", "22", "42")
"""Classes of errors that say that a text cannot be planned; of others the statement itself may not run."""

_HIDDEN: dict[type[ast.Node], tuple[str, ...]] = {
    ast.SelectStmt: (
        "distinctClause",
        "groupDistinct",
        "valuesLists",
        "limitOffset",
        "limitCount",
        "limitOption",
        "op",
        "all",
    ),
    ast.WindowDef: (
        "name",
        "refname",
        "partitionClause",
        "orderClause",
        "frameOptions",
        "startOffset",
        "endOffset",
    ),
    ast.SubLink: ("subLinkType",),
    ast.SortBy: ("sortby_dir", "sortby_nulls", "useOp"),
    ast.CollateClause: ("arg", "collname"),
    ast.CommonTableExpr: ("ctename", "aliascolnames", "search_clause", "cycle_clause"),
    ast.WithClause: ("recursive",),
    ast.RangeTableSample: ("method", "args", "repeatable"),
    ast.RangeFunction: ("lateral", "ordinality", "is_rowsfrom", "coldeflist"),
    ast.JoinExpr: ("jointype",),
    ast.GroupingSet: ("kind", "content"),
}
"""What a plan leaves out, or leaves out where an index or a constant makes it needless."""

_HIDDEN_EARLIER = {**_HIDDEN, ast.SubLink: ("subLinkType", "operName", "testexpr")}
"""The same before `_SHOWN`."""

_SUBPLAN = re.compile(r"(hashed )?(SubPlan|InitPlan) \d+")


async def agree(
    connection: MeteredConnection, expected: Planned, placed: str, names: Names, version: int
) -> bool:
    """Whether `placed` means what the text of `expected` does, to a server of major `version`.

    Raises the driver's exceptions where it cannot be planned in time.
    """
    try:
        found = await plan(connection, placed)
    except asyncpg.PostgresError as error:
        if str(error.sqlstate)[:2] in _REFUSALS:
            return False
        raise
    return await asyncio.to_thread(_same, expected, found, names, version)


def _same(expected: Planned, found: Planned, names: Names, version: int) -> bool:
    return same_plan(expected.plan, found.plan) and same_hidden(expected.text, found.text, names, version)


Plan = tuple[tuple[tuple[str, int], ...], tuple[str, ...]]
"""(name, OID of the type) of each output column, and the lines of EXPLAIN."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A text and its plan."""

    text: str
    plan: Plan


async def plan(connection: MeteredConnection, text: str) -> Planned:
    """Plans `text`; raises the driver's exceptions where it cannot be planned."""
    columns = (await connection.prepare(text)).get_attributes()
    lines = await connection.fetch(_EXPLAIN + text)
    made = tuple((each.name, each.type.oid) for each in columns), tuple(str(line[0]) for line in lines)
    return Planned(text, made)


def same_plan(one: Plan, other: Plan) -> bool:
    """Whether two plans are the same, except for what NULLIF and a CASE that compares are written out as."""
    columns, lines = one
    if columns != other[0] or len(lines) != len(other[1]):
        return False
    told = [(a.partition(": "), b.partition(": ")) for a, b in zip(lines, other[1], strict=True) if a != b]
    if any(a[0] != b[0] for a, b in told):
        return False
    # Each step of a plan hands the same expressions on.
    return all(_same_words(a, b) for a, b in {(a[2], b[2]) for a, b in told})


def _same_words(one: str, other: str) -> bool:
    """Whether two parts of plans are the same expressions; never where they hold none."""
    try:
        trees = [
            parse_sql("SELECT ORDER BY " + _SUBPLAN.sub(r'"\g<0>"', text))[0].stmt for text in (one, other)
        ]
    except ParseError:
        return False
    return same(*(_fold(tree, bare=True) for tree in trees))


def _fold(node: Any, *, bare: bool = False) -> Any:
    if isinstance(node, tuple):
        folded = tuple(_fold(each, bare=bare) for each in node)
        return node if all(map(is_, folded, node)) else folded
    if not isinstance(node, ast.Node):
        return node
    kind: Any = type(node)
    for slot in children(kind):
        # Setting a member is dear, and few change.
        if (value := getattr(node, slot)) is not None and (folded := _fold(value, bare=bare)) is not value:
            setattr(node, slot, folded)
    return _as_words(node, bare=bare) if isinstance(node, ast.CaseExpr) else node


def _as_words(case: Any, *, bare: bool) -> Any:
    """`CASE WHEN a = b THEN NULL ELSE a END` as `NULLIF(a, b)`, and `CASE WHEN a = 1 THEN …` as `CASE a WHEN 1 THEN …`.

    The server does not show the operator of either; `a = b` is the one that it would find for just these operands.
    """
    tests = [when.expr for when in case.args]
    if case.arg is not None or not all(
        _is_equality(test, bare=bare) and same(test.lexpr, tests[0].lexpr) for test in tests
    ):
        return case
    if len(tests) == 1 and _is_null(case.args[0].result) and same(case.defresult, tests[0].lexpr):
        kind = enums.A_Expr_Kind.AEXPR_NULLIF
        return ast.A_Expr(kind=kind, name=tests[0].name[-1:], lexpr=tests[0].lexpr, rexpr=tests[0].rexpr)
    case.arg = _without_text(tests[0].lexpr) if bare else tests[0].lexpr
    for when, test in zip(case.args, tests, strict=True):
        when.expr = _without_text(test.rexpr) if bare else test.rexpr
    return case


def _without_text(node: Any) -> Any:
    """What a plan shows of a varchar that is compared as a text: between CASE and THEN it hides the cast."""
    if not isinstance(node, ast.TypeCast) or isinstance(node.arg, ast.A_Const) or node.typeName is None:
        return node
    return node.arg if written_name(node.typeName.names or ()) == ("text",) else node


def _is_equality(node: Any, *, bare: bool) -> bool:
    """`bare`: in a plan an operator with a schema is not the one that the path finds."""
    if type(node) is not ast.A_Expr or node.kind != enums.A_Expr_Kind.AEXPR_OP:
        return False
    name = written_name(node.name or ())
    return name[-1] == "=" and not (bare and len(name) > 1)


def _is_null(node: Any) -> bool:
    constant: Any = node.arg if isinstance(node, ast.TypeCast) else node
    return isinstance(constant, ast.A_Const) and bool(constant.isnull)


def same_hidden(written: str, placed: str, names: Names, version: int) -> bool:
    """Whether two texts are the same, except for schemas of names, in what a plan does not show.

    Where the server shows no operator, none but PostgreSQL's own may be meant.
    """
    one, other = (parse_sql(text)[0].stmt for text in (written, placed))
    operators = {name for kind, name in names.foreign if kind is Kind.OPERATOR}
    if not operators.isdisjoint(_unseen(one, version)):
        return False
    kept = _HIDDEN if version >= _SHOWN else _HIDDEN_EARLIER
    return _told(one, kept) == _told(other, kept)


def _told(root: Any, kept: dict[type[ast.Node], tuple[str, ...]]) -> list[Any]:
    return [
        (type(node), *(_told_slot(node, slot) for slot in kept[type(node)]))
        for node in nodes(_fold(root))
        if type(node) in kept
    ]


def _told_slot(node: Any, slot: str) -> Any:
    value = getattr(node, slot)
    return _bare(value[-1:] if slot in _NAMES and isinstance(value, tuple) else value)


def _bare(node: Any) -> Any:
    """A tree as values: without places, and of names of functions, operators and types without their schemas."""
    if isinstance(node, tuple):
        return tuple(map(_bare, node)) or None
    if not isinstance(node, ast.Node):
        return getattr(node, "name", node) or None
    kind: Any = type(node)
    return (kind.__name__, *(_told_slot(node, slot) for slot in kind.__slots__ if slot not in _PLACES))


_NAMES = frozenset({"funcname", "name", "names", "collname", "method", "operName", "useOp"})
_PLACES = frozenset({"location", "rexpr_list_start", "rexpr_list_end", "list_start", "list_end"})


def _unseen(root: Any, version: int) -> Iterator[str]:
    """The operators that a plan of `root` does not show."""
    for node in nodes(root):
        match node:
            case ast.SubLink(subLinkType=kind) if version < _SHOWN and kind in _COMPARING:
                yield node.operName[-1].sval if node.operName else "="
            case ast.A_Expr(lexpr=ast.RowExpr()):
                yield written_name(node.name or ())[-1]


_COMPARING = frozenset({enums.SubLinkType.ANY_SUBLINK, enums.SubLinkType.ALL_SUBLINK})
