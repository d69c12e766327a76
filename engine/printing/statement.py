"""One statement printed anew, with every name that it uses or implies qualified.

Owns the walk over the tree and what becomes of each kind of node. `names` come from the server; which of them may be
used at all is the guard's decision, and whose code they run `engine.upstream.frame`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

from pglast import ast, enums, parse_sql

from engine.guard import Analysis, Name, Rules, allowed
from engine.guard.analyse import written_name
from engine.printing.names import SYSTEM, Kind, Names, Overload, Type
from engine.printing.operators import (
    can_say_on,
    column_of,
    expanded_star,
    joined,
    searched,
    shows_merged,
    spelled_out,
    with_on,
)
from engine.printing.overloads import Choice, Overloads, element
from engine.printing.stream import Writer
from engine.printing.trees import children, nodes, same
from engine.sql.binder import bind_tree
from engine.sql.bound_query import Cell, Merged, Ref
from engine.sql.problems import output_name
from schema_catalog.naming import dotted
from schema_catalog.types import Column, Snapshot, Table, TableKind

_Op = enums.A_Expr_Kind
_OPERATORS = frozenset({_Op.AEXPR_OP, _Op.AEXPR_OP_ANY, _Op.AEXPR_OP_ALL})

_WORDED = frozenset({(SYSTEM, "extract"), (SYSTEM, "position")})
"""Functions that are called by words alone (docs 9.9.1, 9.4)."""

_EITHER = 3
"""Arguments of `ts_headline` with a configuration or with options."""

_DATE = re.compile(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b")
"""A date whose day and month DateStyle tells apart (docs 8.5.1.1)."""


class PrintingError(Exception):
    """The statement cannot be printed so that it means the same; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class Printed:
    """`text`: what may be sent. `types`: somebody's that it names, as SQL writes them, each once.

    `sealed`: it means the same along any search path and under any setting. Else it does so in the frame alone.
    """

    text: str
    types: tuple[str, ...]
    sealed: bool
    writer: Writer

    def original(self, position: int) -> int:
        """Where `position` of `text`, from 1 as the server counts, stands in the original text."""
        return self.writer.original(position)


def printed(analysis: Analysis, names: Names, rules: Rules) -> Printed:
    """The statement of `analysis` for one server; raises `PrintingError`."""
    if not analysis.nodes <= allowed.NODES:
        raise PrintingError("it holds something that no query may hold")
    root: Any = parse_sql(analysis.body)[0].stmt
    printer = _Printer(root, analysis, names, rules)
    root = printer.anew(root)
    writer = Writer()
    text = writer(root)
    if not same(parse_sql(text)[0].stmt, root):
        raise PrintingError("pgparley cannot write it so that every server reads the same")
    return Printed(text, tuple(printer.types), printer.sealed, writer)


class _Printer:
    """Changes one tree in place, children first."""

    def __init__(self, root: Any, analysis: Analysis, names: Names, rules: Rules) -> None:
        self.types: dict[str, None] = {}
        self._names = names
        self._listed = {
            Kind.FUNCTION: (allowed.FUNCTIONS, rules.functions),
            Kind.OPERATOR: (allowed.OPERATORS, rules.operators),
        }
        self._ctes = {each.start for each in analysis.relations if each.cte}
        parts = tuple(nodes(root))
        for node in parts:
            if isinstance(node, ast.RangeVar) and node.location not in self._ctes and node.schemaname is None:
                node.schemaname = names.schemas.get(str(node.relname))
        self._bound = bind_tree(root, _snapshot(names))
        self._overloads = Overloads(names, self._bound)
        self._with_on = can_say_on(self._bound, parts)
        self.sealed = self._with_on and not self._bound.problems and not analysis.field_selections
        # Nodes are told apart by their identity: those that were replaced stay alive as long as this.
        self._alive: list[Any] = list(parts)

    def anew(self, node: Any) -> Any:
        """What stands in the place of `node`."""
        if isinstance(node, tuple):
            several = tuple(part for each in node for part in self._several(each))
            return node if len(several) == len(node) and all(map(is_, several, node)) else several
        if not isinstance(node, ast.Node):
            return node
        shown: Any = node if isinstance(node, ast.ResTarget) else None
        name = output_name(shown.val) if shown is not None and shown.name is None else None
        kind: Any = type(node)
        for slot in children(kind):
            value = getattr(node, slot)
            changed = None if value is None else self.anew(value)
            if changed is not value:
                setattr(node, slot, changed)
        rule = _RULES.get(type(node))
        made = node if rule is None else rule(self, node)
        if name is not None and output_name(shown.val) != name:
            shown.name = name
        return made

    def _several(self, node: Any) -> Iterator[Any]:
        star = node.val if isinstance(node, ast.ResTarget) else None
        ref = self._bound.refs.get(id(star))
        if self._with_on and shows_merged(ref):
            yield from expanded_star(ref)  # type: ignore[arg-type]  # it shows merged columns: a Star
        else:
            yield self.anew(node)

    # Names

    def relation(self, node: Any) -> Any:
        """A name in FROM: without its database, which is the connected one."""
        node.catalogname = None
        if node.schemaname is None and node.location not in self._ctes:
            self.sealed = False
        return node

    def type_name(self, node: Any) -> Any:
        """A type's name."""
        name = tuple(part.sval for part in node.names)
        if len(name) == 1:
            schema = SYSTEM if name[0] in allowed.TYPES else self._names.types.get(name[0], SYSTEM)
            name = (schema, *name)
            node.names = _strings(name)
        if name[0] != SYSTEM:
            self.types[dotted(name)] = None
        return node

    def call(self, node: Any) -> Any:
        """A function's name, and its arguments as the overload takes them."""
        name = written_name(node.funcname)
        arguments = [self._overloads.type_of(argument) for argument in node.args or ()]
        choice = self._choice(Kind.FUNCTION, name, arguments)
        node.funcname = _strings((choice.schema, name[-1]))
        if name not in _WORDED:
            node.funcformat = enums.CoercionForm.COERCE_EXPLICIT_CALL
        if choice.overload is not None:
            node.args = self._cast(node.args, arguments, choice.overload) or None
            self._overloads.note(node, choice.overload.result)
        elif name[-1] in allowed.CONFIGURED and len(arguments) > 1:
            self._configuration(name[-1], node.args)
        return node

    def _configuration(self, name: str, arguments: Any) -> None:
        """The name of a text search configuration, which is a text that the server looks up (docs 12.1.3)."""
        first = arguments[0]
        if isinstance(first, ast.A_Const) and isinstance(first.val, ast.String):
            if name == "ts_headline" and len(arguments) == _EITHER:
                self.sealed = False
            elif "." not in str(first.val.sval):
                first.val = ast.String(sval=f"{SYSTEM}.{first.val.sval}")

    def collation(self, node: Any) -> Any:
        """A collation's name; all that may be named are the system's."""
        node.collname = _strings((SYSTEM, node.collname[-1].sval))
        return node

    def sample(self, node: Any) -> Any:
        """A sampling method's name."""
        node.method = _strings((SYSTEM, node.method[-1].sval))
        return node

    # Operators

    def expression(self, node: Any) -> Any:
        """An operator, written as one or as a word."""
        self._alive.append(node)
        if node.kind in _OPERATORS:
            return self._operation(written_name(node.name), node.lexpr, node.rexpr, node.kind, node.location)
        return spelled_out(node, self.operation, self.twin)

    def case(self, node: Any) -> Any:
        """A CASE that compares."""
        return node if node.arg is None else searched(node, self.operation, self.twin)

    def condition(self, node: Any) -> Any:
        """AND, OR and NOT."""
        return node if node.boolop == enums.BoolExprType.NOT_EXPR else joined(node.boolop, node.args)

    def sublink(self, node: Any) -> Any:
        """IN (SELECT …), and the other comparisons with what a subquery gives."""
        if node.subLinkType not in {enums.SubLinkType.ANY_SUBLINK, enums.SubLinkType.ALL_SUBLINK}:
            return node
        name = written_name(node.operName) if node.operName else ("=",)
        types = (self._overloads.type_of(node.testexpr), self._overloads.subquery(node))
        choice = self._choice(Kind.OPERATOR, name, types)
        # A subquery's column cannot be cast from outside, and is of that type where the overload was chosen by it.
        node.operName = _strings((choice.schema, name[-1]))
        if choice.overload is not None and types != choice.overload.arguments:
            self.sealed = False
        return node

    def sort(self, node: Any) -> Any:
        """ORDER BY … USING."""
        if node.useOp:
            of = self._overloads.type_of(node.node)
            name = written_name(node.useOp)
            node.useOp = _strings((self._choice(Kind.OPERATOR, name, (of, of)).schema, name[-1]))
        return node

    def operation(self, name: str, left: Any, right: Any, kind: enums.A_Expr_Kind = _Op.AEXPR_OP) -> Any:
        """See `engine.printing.operators.Operation`."""
        return self._operation((name,), left, right, kind, -1)

    def _operation(self, name: Name, left: Any, right: Any, kind: enums.A_Expr_Kind, location: int) -> Any:
        operands = [each for each in (left, right) if each is not None]
        types = [self._overloads.type_of(each) for each in operands]
        many = kind is not _Op.AEXPR_OP
        if many:
            types[-1] = element(types[-1])
        choice = self._choice(Kind.OPERATOR, name, types)
        made = ast.A_Expr(
            kind=kind, name=_strings((choice.schema, name[-1])), lexpr=left, rexpr=right, location=location
        )
        if choice.overload is not None:
            *before, made.rexpr = self._cast(operands, types, choice.overload, many=many)
            made.lexpr = before[0] if before else None
            self._overloads.note(made, choice.overload.result)
        self._alive.append(made)
        return made

    def _cast(
        self, nodes: Any, types: list[Type | None], overload: Overload, *, many: bool = False
    ) -> tuple[Any, ...]:
        """The arguments with the very types of the overload: then no other one can be nearer (docs 10.2, step 2a)."""
        cast: list[Any] = []
        for place, (node, given, wanted) in enumerate(
            zip(nodes or (), types, overload.arguments, strict=True)
        ):
            if given == wanted:
                cast.append(node)
                continue
            bounds = (ast.Integer(ival=-1),) if wanted.array or (many and place == len(types) - 1) else None
            name = ast.TypeName(
                names=_strings((wanted.schema, wanted.name)), arrayBounds=bounds, typemod=-1, location=-1
            )
            if wanted.schema != SYSTEM:
                self.types[dotted((wanted.schema, wanted.name))] = None
            cast.append(ast.TypeCast(arg=node, typeName=name, location=-1))
        return tuple(cast)

    def _choice(self, kind: Kind, name: Name, types: Sequence[Type | None]) -> Choice:
        listed, confirmed = self._listed[kind]
        # What a DBA allowed means one thing where it is written without a schema: else the guard refuses it.
        schema = next((schema for schema, own in confirmed if own == name[-1]), None)
        try:
            choice = self._overloads.choose(kind, name, types, schema, built_in=name[-1] in listed)
        except LookupError as error:
            raise PrintingError(f"{kind} {error.args[0]} belongs to a role that is not trusted") from error
        self.sealed = self.sealed and choice.sure
        return choice

    # The rest

    def join(self, node: Any) -> Any:
        """A join that merges columns."""
        merged = self._bound.merges.get(id(node), ())
        if self._with_on and (node.isNatural or node.usingClause):
            return with_on(node, merged, self.operation, self.merged)
        return node

    def column(self, node: Any) -> Any:
        """A column's name: what it merges, where it merges two."""
        ref = self._bound.refs.get(id(node))
        if isinstance(ref, Merged) and self._with_on:
            return self.merged(ref)
        if isinstance(ref, Cell) and ref.position is None and len(node.fields) > 1:
            # It may be a call of a function with that name (docs 8.16.5).
            self.sealed = False
        return node

    def merged(self, ref: Ref) -> Any:
        """The expression of a bound column."""
        made = column_of(ref)
        found = self._overloads.ref(ref)
        if found is not None:
            self._overloads.note(made, found)
        return made

    def constant(self, node: Any) -> Any:
        """A literal."""
        if isinstance(node.val, ast.String) and _DATE.match(str(node.val.sval)):
            self.sealed = False
        return node

    def twin(self, node: Any) -> Any:
        """A copy; what differs each time it is evaluated would not mean the same."""
        if any(
            written_name(each.funcname or ())[-1] in allowed.UNREPEATABLE
            for each in nodes(node)
            if type(each) is ast.FuncCall
        ):
            raise PrintingError("it compares a value that differs each time")
        return self._copied(node)

    def _copied(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(map(self._copied, node))
        if not isinstance(node, ast.Node):
            return node
        whole: Any = node
        copy: Any = type(whole)()
        for slot in whole.__slots__:
            setattr(copy, slot, self._copied(getattr(whole, slot)))
        found = self._overloads.type_of(node)
        if found is not None:
            self._overloads.note(copy, found)
        self._alive.append(copy)
        return copy


_RULES: dict[type[ast.Node], Callable[[_Printer, Any], Any]] = {
    ast.RangeVar: _Printer.relation,
    ast.TypeName: _Printer.type_name,
    ast.FuncCall: _Printer.call,
    ast.CollateClause: _Printer.collation,
    ast.RangeTableSample: _Printer.sample,
    ast.A_Expr: _Printer.expression,
    ast.BoolExpr: _Printer.condition,
    ast.CaseExpr: _Printer.case,
    ast.SubLink: _Printer.sublink,
    ast.SortBy: _Printer.sort,
    ast.JoinExpr: _Printer.join,
    ast.ColumnRef: _Printer.column,
    ast.A_Const: _Printer.constant,
}


def _snapshot(names: Names) -> Snapshot:
    """What the binder wants to know of the relations."""
    tables = tuple(
        Table(each.schema, each.name, TableKind.TABLE, tuple(Column(name, "") for name, _ in each.columns))
        for each in names.relations
    )
    return Snapshot("", (), tables)


def _strings(parts: Name) -> Any:
    return tuple(ast.String(sval=part) for part in parts)
