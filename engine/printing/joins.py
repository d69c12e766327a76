"""JOIN … USING and NATURAL JOIN as ON: PostgreSQL would look the operator `=` up along the search path (docs 7.2.1.1).

Owns the conditions and what a merged column is afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pglast import ast, enums

from engine.printing.operators import Operation, joined
from engine.sql.bound_query import Bound, Cell, Join, Merged, Ref, Row, Star
from schema_catalog.types import Table


def writable(bound: Bound, nodes: Iterable[Any]) -> bool:
    """Whether every join of a statement can be written with ON; `nodes`: all of its tree.

    Not where a join has an alias, which hides what it is made of, where a whole row of such a join is read, or where
    the columns or the name of one side are not known.
    """
    joins = [node for node in nodes if isinstance(node, ast.JoinExpr)]
    merging = [node for node in joins if node.isNatural or node.usingClause]
    if not merging:
        return True
    sources = bound.sources.values()
    named = all(source.name for source in sources)
    known = not any(source.open for source in sources) or not any(node.isNatural for node in merging)
    whole = any(isinstance(ref, Row) and ref.source is None for ref in bound.refs.values())
    return named and known and not whole and not any(node.alias for node in joins)


def with_condition(
    node: Any, merged: tuple[Merged, ...], operation: Operation, column: Callable[[Ref], Any]
) -> Any:
    """The join with ON in place of USING or NATURAL; `column` makes the expression of a bound column."""
    pairs = [operation("=", column(pair.left), column(pair.right)) for pair in merged]
    true = ast.A_Const(val=ast.Boolean(boolval=True))
    node.quals = joined(enums.BoolExprType.AND_EXPR, pairs or [true])
    node.isNatural, node.usingClause, node.join_using_alias = False, None, None
    return node


def column(ref: Ref) -> Any:
    """The expression of a bound column."""
    match ref:
        case Merged(left, right, Join.FULL):
            return ast.CoalesceExpr(args=(column(left), column(right)), location=-1)
        case Merged(left, right, kind):
            return column(right if kind is Join.RIGHT else left)
        case Cell(source, name, _):
            bare = isinstance(source.origin, Table) and not source.aliased
            parts = (*source.origin.key, name) if bare else (source.name, name)  # type: ignore[union-attr]  # `bare`
            return ast.ColumnRef(fields=tuple(ast.String(sval=part) for part in parts), location=-1)
        case _:
            raise TypeError(type(ref).__name__)


def expanded(star: Star) -> Iterator[Any]:
    """The select list of a `*` that shows merged columns."""
    for name, ref in star.refs:
        yield ast.ResTarget(name=name, val=column(ref), location=-1)


def shows_merged(ref: Ref | None) -> bool:
    """Whether a `*` shows one."""
    return isinstance(ref, Star) and any(isinstance(each, Merged) for _, each in ref.refs)
