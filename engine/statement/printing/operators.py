"""What SQL hides in words, written out with operators: PostgreSQL would look their names up along the search path.

Owns the meaning of IN, LIKE, BETWEEN, NULLIF and CASE, as `parse_expr.c` gives it to them (docs 9.2, 9.18, 9.24), and
of JOIN … USING and NATURAL JOIN as ON (docs 7.2.1.1). Whether it is the same here is for the server to say
(`engine.upstream.referee`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from pglast import ast, enums

from engine.statement.bound_query import Bound, Cell, Join, Merged, Ref, Row, Star
from engine.statement.printing.trees import nodes
from schema_catalog.types import Table

Kind = enums.A_Expr_Kind


class PrintingError(Exception):
    """The statement cannot be printed so that it means the same; the message is a clause that says why."""


class Operation(Protocol):
    """Makes the expression of an operator by name, with its schema."""

    def __call__(self, name: str, left: Any, right: Any, kind: enums.A_Expr_Kind = Kind.AEXPR_OP) -> Any:
        """`kind`: OP, or with an array on the right OP_ANY or OP_ALL. `left`: None for a prefix operator."""


Twin = Callable[[Any], Any]
"""A copy of an expression that is evaluated once more."""

_LIST = {"=": Kind.AEXPR_OP_ANY, "<>": Kind.AEXPR_OP_ALL}


def spelled_out(node: Any, operation: Operation, twin: Twin, *, typed: bool) -> Any:
    """What an `A_Expr` that is no plain operator means; `typed`: see `_array`. Raises `PrintingError`."""
    match node.kind:
        case Kind.AEXPR_IN:
            return _in(node, operation, twin, typed=typed)
        case Kind.AEXPR_DISTINCT | Kind.AEXPR_NOT_DISTINCT:
            return _null_test(node)
        case Kind.AEXPR_NULLIF:
            same = ast.CaseWhen(expr=operation("=", twin(node.lexpr), node.rexpr), result=_null())
            return ast.CaseExpr(args=(same,), defresult=node.lexpr, location=node.location)
        case _:
            return _between(node, operation, twin)


def searched(node: Any, operation: Operation, twin: Twin) -> Any:
    """A CASE that compares its argument, as one that compares nothing."""
    for when in node.args:
        when.expr = operation("=", twin(node.arg), when.expr)
    node.arg = None
    return node


def joined(operator: enums.BoolExprType, parts: Iterable[Any]) -> Any:
    """AND or OR of all, of which there is one at least; the parser makes one node of a row of them, too."""
    listed = tuple(
        inner
        for part in parts
        for inner in (part.args if isinstance(part, ast.BoolExpr) and part.boolop == operator else (part,))
        or ()
    )
    return listed[0] if len(listed) == 1 else ast.BoolExpr(boolop=operator, args=listed, location=-1)


def _null() -> Any:
    return ast.A_Const(isnull=True)


def _in(node: Any, operation: Operation, twin: Twin, *, typed: bool) -> Any:
    """As `transformAExprIn`: an array of what holds no column, where that is more than one; the others one by one."""
    name, left = node.name[-1].sval, node.lexpr
    fixed = [each for each in node.rexpr if not any(isinstance(part, ast.ColumnRef) for part in nodes(each))]
    parts, values = [], node.rexpr
    if len(fixed) > 1 and not isinstance(left, ast.RowExpr):
        listed = set(map(id, fixed))
        parts = [operation(name, twin(left), _array(fixed, typed=typed), _LIST[name])]
        values = [each for each in values if id(each) not in listed]
    parts += [operation(name, twin(left), value) for value in values]
    return joined(enums.BoolExprType.OR_EXPR if name == "=" else enums.BoolExprType.AND_EXPR, parts)


def _array(values: list[Any], *, typed: bool) -> Any:
    """Constants as the text of an array, which takes the type of what it meets; `typed` numbers keep theirs."""
    inner: list[Any] = [
        value.val if isinstance(value, ast.A_Const) and not value.isnull else None for value in values
    ]
    if not typed and all(isinstance(each, ast.Integer | ast.Float) for each in inner):
        text = ",".join(
            str(each.fval) if isinstance(each, ast.Float) else str(each.ival or 0) for each in inner
        )
    elif all(isinstance(each, ast.String) for each in inner):
        quoted = (each.sval.replace("\\", "\\\\").replace('"', '\\"') for each in inner)
        text = ",".join(f'"{each}"' for each in quoted)
    else:
        return ast.A_ArrayExpr(elements=tuple(values), location=-1)
    return ast.A_Const(val=ast.String(sval="{" + text + "}"))


def _between(node: Any, operation: Operation, twin: Twin) -> Any:
    low, high = node.rexpr
    value, both, either = node.lexpr, enums.BoolExprType.AND_EXPR, enums.BoolExprType.OR_EXPR

    def within(least: Any, most: Any) -> Any:
        return joined(both, (operation(">=", twin(value), least), operation("<=", twin(value), most)))

    def outside(least: Any, most: Any) -> Any:
        return joined(either, (operation("<", twin(value), least), operation(">", twin(value), most)))

    match node.kind:
        case Kind.AEXPR_BETWEEN:
            return within(low, high)
        case Kind.AEXPR_NOT_BETWEEN:
            return outside(low, high)
        case Kind.AEXPR_BETWEEN_SYM:
            return joined(either, (within(twin(low), twin(high)), within(high, low)))
        case _:
            return joined(both, (outside(twin(low), twin(high)), outside(high, low)))


def _null_test(node: Any) -> Any:
    """A comparison with NULL itself; any other has no spelling of its operator."""
    for one, other in ((node.lexpr, node.rexpr), (node.rexpr, node.lexpr)):
        if isinstance(one, ast.A_Const) and one.isnull:
            known = node.kind == Kind.AEXPR_DISTINCT
            test = enums.NullTestType.IS_NOT_NULL if known else enums.NullTestType.IS_NULL
            return ast.NullTest(arg=other, nulltesttype=test, location=-1)
    raise PrintingError("IS DISTINCT FROM cannot name its operator")


def can_say_on(bound: Bound, parts: Iterable[Any]) -> bool:
    """Whether every join of a statement can be written with ON; `parts`: all of its tree.

    Not where a join has an alias, which hides what it is made of, where a whole row of such a join is read, or where
    the columns or the name of one side are not known.
    """
    joins = [node for node in parts if isinstance(node, ast.JoinExpr)]
    merging = [node for node in joins if node.isNatural or node.usingClause]
    if not merging:
        return True
    sources = bound.sources.values()
    named = all(source.name for source in sources)
    known = not any(source.open for source in sources) or not any(node.isNatural for node in merging)
    whole = any(isinstance(ref, Row) and ref.source is None for ref in bound.refs.values())
    return named and known and not whole and not any(node.alias for node in joins)


def with_on(node: Any, merged: tuple[Merged, ...], operation: Operation) -> Any:
    """The join with ON in place of USING or NATURAL."""
    pairs = [operation("=", column_of(pair.left), column_of(pair.right)) for pair in merged]
    true = ast.A_Const(val=ast.Boolean(boolval=True))
    node.quals = joined(enums.BoolExprType.AND_EXPR, pairs or [true])
    node.isNatural, node.usingClause, node.join_using_alias = False, None, None
    return node


def column_of(ref: Ref) -> Any:
    """The expression of a bound column."""
    match ref:
        case Merged(left, right, Join.FULL):
            return ast.CoalesceExpr(args=(column_of(left), column_of(right)), location=-1)
        case Merged(left, right, kind):
            return column_of(right if kind is Join.RIGHT else left)
        case Cell(source, name, _):
            bare = isinstance(source.origin, Table) and not source.aliased
            parts = (*source.origin.key, name) if bare else (source.name, name)  # type: ignore[union-attr]  # `bare`
            return ast.ColumnRef(fields=tuple(ast.String(sval=part) for part in parts), location=-1)
        case _:
            raise TypeError(type(ref).__name__)


def expanded_star(star: Star) -> Iterator[Any]:
    """The select list of a `*` that shows merged columns."""
    for name, ref in star.refs:
        yield ast.ResTarget(name=name, val=column_of(ref), location=-1)


def shows_merged(ref: Ref | None) -> bool:
    """Whether a `*` shows one."""
    return isinstance(ref, Star) and any(isinstance(each, Merged) for _, each in ref.refs)
