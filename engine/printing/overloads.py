"""Which function or operator a name means where a type of somebody's has its own (docs 10.2, 10.3).

Owns the types of expressions, as far as the choice needs them, and the choice. An expression whose type is not known
counts as one of a built-in type: PostgreSQL's own function or operator is then what is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pglast import ast, enums

from engine.guard import Name
from engine.printing.names import SYSTEM, Kind, Names, Overload, Type
from engine.sql.bound_query import Bound, Cell, Merged, Query, Ref
from schema_catalog.types import Table

UNTYPED = Type("", "unknown")
"""Of a text or NULL in the statement, which takes the type that its place wants."""

_SAME = frozenset(
    {
        "min",
        "max",
        "any_value",
        "mode",
        "first_value",
        "last_value",
        "nth_value",
        "lag",
        "lead",
        "array_remove",
    }
)
"""Functions whose result has the type of their first argument."""


_TEXT = Type(SYSTEM, "text")
_TEXTS = frozenset({"text", "varchar", "bpchar", "name"})


@dataclass(frozen=True, slots=True)
class Choice:
    """What a name means: its schema, and the overload where it is somebody's. `sure`: no other one can be meant."""

    schema: str
    overload: Overload | None = None
    sure: bool = True


class Overloads:
    """Chooses for one statement. `bound`: its names, with the types that `names` says."""

    def __init__(self, names: Names, bound: Bound) -> None:
        self._bound = bound
        self._columns = {relation.key: relation.columns for relation in names.relations}
        self._found: dict[tuple[Kind, str], list[Overload]] = {}
        for overload in names.overloads:
            self._found.setdefault((overload.kind, overload.name), []).append(overload)
        own = (t for o in names.overloads for t in (*o.arguments, o.result) if t.own)
        self._own = {(t.schema, t.name) for t in own} | {
            (t.schema, t.name) for columns in self._columns.values() for _, t in columns if t.own
        }
        self._results: dict[int, Type] = {}

    def choose(
        self, kind: Kind, name: Name, arguments: Sequence[Type | None], allowed: str | None, *, built_in: bool
    ) -> Choice:
        """The meaning of `name`.

        `allowed`: the schema in which a DBA allowed a function or operator of that name; `built_in`: PostgreSQL has one
        as well. Raises `LookupError` where only code of somebody untrusted could be meant.
        """
        written = name[0] if len(name) > 1 else None if built_in else allowed
        found = [
            each
            for each in self._found.get((kind, name[-1]), ())
            if (written is None or each.schema == written) and _fits(each, arguments)
        ]
        if written is None:
            # Without a name that says so, only a type of one's own has an overload of its own, or a DBA's word.
            found = [
                each
                for each in found
                if any(t is not None and t.own and t in each.arguments for t in arguments)
                or (each.schema == allowed and _near(each, arguments))
            ]
        best = _best([each for each in found if each.trusted], arguments)
        if len(best) == 1 and best[0].exact:
            return Choice(best[0].schema, best[0])
        if written is None and not best:
            return Choice(SYSTEM)
        if written == SYSTEM:
            return Choice(SYSTEM)
        if any(not each.trusted for each in found):
            raise LookupError(".".join((written or best[0].schema, name[-1])))
        return Choice(written or best[0].schema, sure=False)

    def note(self, node: Any, result: Type) -> None:
        """Remembers the type of a node."""
        self._results[id(node)] = result

    def type_of(self, node: Any) -> Type | None:
        """The type of an expression; None where it is not known, or built in and of no consequence."""
        if id(node) in self._results:
            return self._results[id(node)]
        rule = _RULES.get(type(node))
        return None if rule is None else rule(self, node)

    def ref(self, ref: Ref | None) -> Type | None:
        """The type of a bound column."""
        match ref:
            case Merged(left, _, _):
                return self.ref(left)
            case Cell(source, _, int(position)) if isinstance(source.origin, Table):
                return self._columns[source.origin.key][position][1]
            case Cell(source, _, int(position)):
                query = getattr(source.origin, "query", source.origin)
                return self._output(query, position) if isinstance(query, Query) else None
            case _:
                return None

    def _output(self, query: Query, position: int) -> Type | None:
        if not position < len(query.outputs):
            return None
        output = query.outputs[position][1]
        return self.type_of(output) if isinstance(output, ast.Node) else self.ref(output)

    def column(self, node: Any) -> Type | None:
        """The type of a column reference."""
        return self.ref(self._bound.refs.get(id(node)))

    def written(self, node: Any) -> Type:
        """The type that a cast names."""
        names = tuple(part.sval for part in node.names)
        schema, name = names if len(names) > 1 else (SYSTEM, names[0])
        return Type(schema, name, bool(node.arrayBounds), (schema, name) in self._own)

    def first(self, nodes: Iterable[Any]) -> Type | None:
        """The first type among those of `nodes` that is one."""
        types = [self.type_of(node) for node in nodes if node is not None]
        return next((t for t in types if t not in {None, UNTYPED}), types[0] if types else None)

    def subquery(self, node: Any) -> Type | None:
        """The type of a subquery's first column."""
        query = self._bound.queries.get(id(node.subselect))
        found = None if query is None else self._output(query, 0)
        array = node.subLinkType == enums.SubLinkType.ARRAY_SUBLINK
        return replace(found, array=True) if found is not None and array else found


def element(of: Type | None) -> Type | None:
    """The type of an array's elements."""
    return of if of is None or of == UNTYPED else replace(of, array=False)


def _fits(overload: Overload, arguments: Sequence[Type | None]) -> bool:
    if overload.exact and len(overload.arguments) != len(arguments):
        return False
    return all(
        given in {None, UNTYPED, wanted} or not (given.own or wanted.own or given.array)
        for given, wanted in zip(arguments, overload.arguments, strict=False)
    )


def _near(overload: Overload, arguments: Sequence[Type | None]) -> bool:
    """Whether every argument whose type is known has the very type, or both are texts."""
    pairs = [
        (given, wanted)
        for given, wanted in zip(arguments, overload.arguments, strict=False)
        if given is not None and given != UNTYPED
    ]
    return bool(pairs) and all(
        given == wanted or ({given.name, wanted.name} <= _TEXTS and given.array == wanted.array)
        for given, wanted in pairs
    )


def _best(overloads: list[Overload], arguments: Sequence[Type | None]) -> list[Overload]:
    """Those that fit the most arguments by their very types; an untyped one is of another's type, else a text."""
    typed = {t for t in arguments if t not in {None, UNTYPED}}

    def exactness(overload: Overload) -> int:
        pairs = zip(arguments, overload.arguments, strict=False)
        return sum(
            4 * (given == wanted) + (given == UNTYPED) * (2 * (wanted in typed) + (wanted == _TEXT))
            for given, wanted in pairs
        )

    most = max(map(exactness, overloads), default=0)
    return [each for each in overloads if exactness(each) == most]


def _of_call(types: Overloads, node: Any) -> Type | None:
    name = node.funcname[-1].sval
    first = types.type_of(node.args[0]) if node.args else None
    if name == "unnest":
        return element(first)
    if name == "array_agg" and first is not None:
        return replace(first, array=True)
    return first if name in _SAME else None


def _of_const(_: Overloads, node: Any) -> Type | None:
    if node.isnull or isinstance(node.val, ast.String):
        return UNTYPED
    names: dict[type, str] = {ast.Integer: "int4", ast.Float: "numeric", ast.Boolean: "bool"}
    return Type(SYSTEM, names.get(type(node.val), "bit"))


_RULES: dict[type[ast.Node], Callable[[Overloads, Any], Type | None]] = {
    ast.ColumnRef: Overloads.column,
    ast.A_Const: _of_const,
    ast.TypeCast: lambda types, node: types.written(node.typeName),
    ast.CollateClause: lambda types, node: types.type_of(node.arg),
    ast.CoalesceExpr: lambda types, node: types.first(node.args),
    ast.MinMaxExpr: lambda types, node: types.first(node.args),
    ast.CaseExpr: lambda types, node: types.first([*(each.result for each in node.args), node.defresult]),
    ast.A_ArrayExpr: lambda types, node: types.first(node.elements or ()),
    ast.A_Indirection: lambda types, node: element(types.type_of(node.arg)),
    ast.SubLink: Overloads.subquery,
    ast.FuncCall: _of_call,
}
