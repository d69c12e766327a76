"""Normal forms of expressions, equal for different spellings of one expression.

Owns the equivalences below the level of a query. Each holds for every built-in type and every NULL; one that would
need types that the tree does not give is left out. A node without a rule is rendered slot by slot. The forms are text
to compare, not SQL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from pglast import ast, enums

from engine.sql.bound_query import Cell, Ref
from schema_catalog.types import Table

_PLACES = frozenset(
    {"location", "name_location", "list_start", "list_end", "rexpr_list_start", "rexpr_list_end"}
)
_IGNORED = _PLACES | {"funcformat", "typemod"}
"""Slots that say where something was written or in which of two syntaxes."""

_FLIPPED = {">": "<", ">=": "<="}
_SYMMETRIC = frozenset({"=", "<>"})
_COMPARISONS = _SYMMETRIC | {"<", "<=", ">", ">="}
_COMMUTATIVE = frozenset({"+", "*"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_NEGATED = {"!~~": "~~", "!~~*": "~~*", "!~": "~", "!~*": "~*"}

_SYNONYMS = {
    "ceiling": "ceil",
    "pow": "power",
    "character_length": "char_length",
    "transaction_timestamp": "now",
    "every": "bool_and",
    "stddev": "stddev_samp",
    "variance": "var_samp",
}

_TYPE_NAMES = {
    "date": "date",
    "text": "text",
    "uuid": "uuid",
    "boolean": "bool",
    "smallint": "int2",
    "integer": "int4",
    "bigint": "int8",
    "numeric": "numeric",
    "real": "float4",
    "double precision": "float8",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
}
"""`format_type` → the parser's name, of types whose operators take an untyped literal as their own type."""

_NUMBERS = frozenset({"int2", "int4", "int8", "numeric", "float4", "float8"})


TRUE = "(Boolean True)"


class UnfitError(Exception):
    """The statement holds something whose meaning depends on how it is written."""


class Expressions(ABC):
    """Renders expressions; subclasses render what depends on the query around them. Methods raise `UnfitError`."""

    def __init__(self) -> None:
        self._budget = 20_000
        self._rules: dict[type[ast.Node], Callable[[Any], str]] = {
            ast.ColumnRef: lambda node: self.reference(self.bound(node)),
            ast.BoolExpr: self._boolean,
            ast.A_Expr: self._operation,
            ast.A_Const: _constant,
            ast.TypeCast: self._cast,
            ast.FuncCall: self._call,
            ast.SubLink: self._sublink,
            ast.SQLValueFunction: _keyword,
            ast.SortBy: self.sort_key,
            ast.SelectStmt: self.query,
        }

    @abstractmethod
    def bound(self, node: Any) -> Ref:
        """The binding of a column reference."""

    @abstractmethod
    def reference(self, ref: Ref) -> str:
        """The text of a binding."""

    @abstractmethod
    def query(self, node: Any) -> str:
        """The text of a subquery."""

    @abstractmethod
    def existence(self, node: Any) -> str:
        """The text of a subquery in EXISTS: only its rows count, not their values."""

    @abstractmethod
    def window(self, node: Any) -> str:
        """The text of a window definition."""

    def expression(self, node: Any) -> str:
        """The text of an expression, a tuple of them, or a plain value of the tree; raises `UnfitError`."""
        self.spend()
        if isinstance(node, tuple):
            return f"[{' '.join(map(self.expression, node))}]"
        if not isinstance(node, ast.Node):
            return repr(node)
        rule = self._rules.get(type(node))
        return self._whole(node) if rule is None else rule(node)

    def spend(self) -> None:
        """Counts a step: WITH queries that read each other twice grow exponentially; raises `UnfitError`."""
        self._budget -= 1
        if self._budget < 0:
            raise UnfitError("too large")

    def conjuncts(self, nodes: Iterable[Any]) -> set[str]:
        """The texts of conditions that all have to hold."""
        found: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.BoolExpr) and node.boolop == enums.BoolExprType.AND_EXPR:
                found |= self.conjuncts(node.args or ())
            elif isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_BETWEEN:
                low, high = node.rexpr or ()
                found |= {self._compared("<=", low, node.lexpr), self._compared("<=", node.lexpr, high)}
            elif node is not None:
                found.add(self.expression(node))
        return found - {TRUE}

    def sort_key(self, node: Any) -> str:
        """The text of an element of ORDER BY; ascending and the direction's place of NULLs are defaults."""
        return f"({self.expression(node.node)} {direction(node)})"

    def _whole(self, node: Any) -> str:
        parts = [
            f"{slot}={self.expression(value)}"
            for slot in node.__slots__
            if slot not in _IGNORED and (value := getattr(node, slot)) is not None
        ]
        return f"({type(node).__name__} {' '.join(parts)})"

    def _boolean(self, node: Any) -> str:
        kinds = enums.BoolExprType
        if node.boolop == kinds.AND_EXPR:
            return joined("and", self.conjuncts([node]))
        if node.boolop == kinds.OR_EXPR:
            return joined("or", self._disjuncts(node))
        (inner,) = node.args
        return _negation(self.expression(inner))

    def _disjuncts(self, node: Any) -> set[str]:
        if isinstance(node, ast.BoolExpr) and node.boolop == enums.BoolExprType.OR_EXPR:
            return {text for part in node.args or () for text in self._disjuncts(part)}
        return {self.expression(node)}

    def _operation(self, node: Any) -> str:
        kinds = enums.A_Expr_Kind
        name = _own(node.name)
        match node.kind:
            case kinds.AEXPR_OP | kinds.AEXPR_LIKE | kinds.AEXPR_ILIKE:
                return self._operator(name, node.lexpr, node.rexpr)
            case kinds.AEXPR_IN:
                return self._membership(name, node.lexpr, node.rexpr)
            case kinds.AEXPR_BETWEEN:
                return joined("and", self.conjuncts([node]))
            case kinds.AEXPR_NOT_BETWEEN:
                low, high = node.rexpr
                below, above = self._compared("<", node.lexpr, low), self._compared("<", high, node.lexpr)
                return joined("or", {below, above})
            case kinds.AEXPR_DISTINCT | kinds.AEXPR_NOT_DISTINCT:
                sides = sorted([self._side(node.lexpr, node.rexpr), self._side(node.rexpr, node.lexpr)])
                same = f"(same {' '.join(sides)})"
                return same if node.kind == kinds.AEXPR_NOT_DISTINCT else _negation(same)
            case _:
                return self._whole(node)

    def _operator(self, name: str, left: Any, right: Any) -> str:
        if left is None:
            return f"({name} {self.expression(right)})"
        if name in _COMPARISONS:
            return self._compared(name, left, right)
        if name in _NEGATED:
            return _negation(f"({_NEGATED[name]} {self.expression(left)} {self.expression(right)})")
        sides = [self.expression(left), self.expression(right)]
        if name in _COMMUTATIVE and self._number(left) and self._number(right):
            sides.sort()
        return f"({name} {' '.join(sides)})"

    def _compared(self, name: str, left: Any, right: Any) -> str:
        sides = [self._side(left, right), self._side(right, left)]
        if name in _SYMMETRIC:
            sides.sort()
        elif name in _FLIPPED:
            sides.reverse()
            name = _FLIPPED[name]
        return f"({name} {' '.join(sides)})"

    def _membership(self, name: str, left: Any, members: Any) -> str:
        if len(members) == 1:
            return self._compared(name, left, members[0])
        # Members of different types would share a type that is not the column's.
        literal = all(isinstance(part, ast.A_Const) and isinstance(part.val, ast.String) for part in members)
        texts = sorted({self._side(part, left) if literal else self.expression(part) for part in members})
        text = f"(in {self.expression(left)} {' '.join(texts)})"
        return text if name == "=" else _negation(text)

    def _side(self, node: Any, other: Any) -> str:
        """One side of a comparison: an untyped literal takes the type of the column it is held against."""
        text = self.expression(node)
        type_name = self._type_of(other)
        if type_name is not None and isinstance(node, ast.A_Const) and isinstance(node.val, ast.String):
            return f"(cast {type_name} {text})"
        return text

    def _type_of(self, node: Any) -> str | None:
        """The type of a plain column of a table, where it is one of the simple ones."""
        if not isinstance(node, ast.ColumnRef):
            return None
        match self.bound(node):
            case Cell(source, _, int(position)) if isinstance(source.origin, Table):
                written = source.origin.columns[position].type
                return _TYPE_NAMES.get("numeric" if written.startswith("numeric(") else written)
            case _:
                return None

    def _number(self, node: Any) -> bool:
        """Whether `node` is surely a number: only then do `+` and `*` surely commute."""
        if isinstance(node, ast.A_Const):
            return isinstance(node.val, ast.Integer | ast.Float)
        if isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_OP:
            operands = [part for part in (node.lexpr, node.rexpr) if part is not None]
            return _own(node.name) in _ARITHMETIC and all(map(self._number, operands))
        if isinstance(node, ast.FuncCall):
            return _own(node.funcname) == "count"
        return self._type_of(node) in _NUMBERS

    def _cast(self, node: Any) -> str:
        kind = node.typeName
        extra = [self.expression(part) for part in (kind.typmods, kind.arrayBounds) if part]
        return f"({' '.join(['cast', _own(kind.names), *extra, self.expression(node.arg)])})"

    def _call(self, node: Any) -> str:
        name = _SYNONYMS.get(_own(node.funcname), _own(node.funcname))
        arguments = node.args or ()
        if name == "count" and not node.agg_distinct and _counts_rows(arguments):
            arguments = ()
        if name == "now":
            return "(now)"
        parts = [f"call {name}", *map(self.expression, arguments)]
        flags = ("agg_distinct", "func_variadic", "agg_within_group")
        parts += [flag for flag in flags if getattr(node, flag)]
        if node.agg_order:
            parts.append(f"order {self.expression(node.agg_order)}")
        if node.agg_filter is not None:
            parts.append(f"filter {joined('and', self.conjuncts([node.agg_filter]))}")
        if node.over is not None:
            parts.append(f"over {self.window(node.over)}")
        return f"({' '.join(parts)})"

    def _sublink(self, node: Any) -> str:
        kind = node.subLinkType
        if kind == enums.SubLinkType.EXISTS_SUBLINK:
            return f"(exists {self.existence(node.subselect)})"
        operator = _own(node.operName) if node.operName else "="
        test = self.expression(node.testexpr) if node.testexpr is not None else ""
        return f"({kind.name} {operator} {test} {self.query(node.subselect)})"


def joined(operator: str, texts: set[str]) -> str:
    """Several conditions in a fixed order; a single one stands for itself, none is true."""
    if not texts:
        return TRUE
    return next(iter(texts)) if len(texts) == 1 else f"({operator} {' '.join(sorted(texts))})"


def direction(node: Any) -> str:
    """Direction and place of NULLs of an element of ORDER BY; raises `UnfitError` for USING."""
    if node.useOp:
        raise UnfitError("ORDER BY … USING")
    descending = node.sortby_dir == enums.SortByDir.SORTBY_DESC
    first = enums.SortByNulls.SORTBY_NULLS_FIRST
    nulls_first = descending if node.sortby_nulls == 0 else node.sortby_nulls == first
    return f"{'desc' if descending else 'asc'} nulls {'first' if nulls_first else 'last'}"


def as_written(node: Any) -> str:
    """A tree without the places of its parts: equal where texts differ by spaces, comments, case alone."""
    if isinstance(node, tuple):
        return f"[{' '.join(map(as_written, node))}]"
    if not isinstance(node, ast.Node):
        return repr(node)
    tree: Any = node
    parts = [f"{slot}={as_written(getattr(tree, slot))}" for slot in tree.__slots__ if slot not in _PLACES]
    return f"({type(tree).__name__} {' '.join(parts)})"


def _negation(text: str) -> str:
    prefix = "(not "
    return text[len(prefix) : -1] if text.startswith(prefix) else f"{prefix}{text})"


def _constant(node: Any) -> str:
    if node.isnull:
        return "null"
    kind = type(node.val).__name__
    value = next(getattr(node.val, slot) for slot in node.val.__slots__ if slot != "location")
    return f"({kind} {value!r})"


def _keyword(node: Any) -> str:
    name = node.op.name.removeprefix("SVFOP_").lower()
    same = {"current_timestamp": "(now)", "user": "(current_user)", "current_role": "(current_user)"}
    return same.get(name, f"({name} {node.typmod})" if name.endswith("_n") else f"({name})")


def _counts_rows(arguments: tuple[Any, ...]) -> bool:
    """count(1) counts every row, as count(*) does: a constant is never NULL, unless it is NULL itself."""
    return len(arguments) == 1 and isinstance(arguments[0], ast.A_Const) and not arguments[0].isnull


def _own(parts: Any) -> str:
    """A built-in's name, bare or with its schema."""
    if len(parts) > 1 and parts[0].sval != "pg_catalog":
        raise UnfitError("a name in another schema")
    name: str = parts[-1].sval
    return name
