"""One statement printed anew: for the frame, and for the asker's own session.

Owns the walk over the tree and what becomes of each kind of node. `names` come from the server; which of them may be
used at all is the guard's decision, and whose code they run `engine.upstream.frame`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import is_
from typing import Any

from pglast import ast, enums, parse_sql

from engine.guard import Analysis, Name, Rules, allowed
from engine.guard.analyse import written_name
from engine.statement.binder import bind_tree
from engine.statement.bound_query import Cell, Merged
from engine.statement.printing.names import SYSTEM, Kind, Names
from engine.statement.printing.operators import (
    PrintingError,
    can_say_on,
    column_of,
    expanded_star,
    joined,
    searched,
    shows_merged,
    spelled_out,
    with_on,
)
from engine.statement.printing.stream import Writer
from engine.statement.printing.trees import children, nodes, same
from engine.statement.problems import output_name
from schema_catalog.naming import dotted
from schema_catalog.types import Column, Snapshot, Table, TableKind

__all__ = ["MOST_COPIES", "Printed", "PrintingError", "placed", "printed"]

MOST_COPIES = 2_000
"""Nodes that may stand once more in a placed text. Of an operand that stands twice each level doubles them."""

_Op = enums.A_Expr_Kind
_OPERATORS = frozenset({_Op.AEXPR_OP, _Op.AEXPR_OP_ANY, _Op.AEXPR_OP_ALL})
_LIKE = frozenset({_Op.AEXPR_LIKE, _Op.AEXPR_ILIKE, _Op.AEXPR_SIMILAR})

_WORDED = frozenset({(SYSTEM, "extract"), (SYSTEM, "position")})
"""Functions that are called by words alone (docs 9.9.1, 9.4)."""

_EITHER = 3
"""Arguments of `ts_headline` with a configuration or with options."""

_DATE = re.compile(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b")
"""A date whose day and month DateStyle tells apart (docs 8.5.1.1)."""

_LISTED = {Kind.FUNCTION: allowed.FUNCTIONS, Kind.OPERATOR: allowed.OPERATORS}


@dataclass(frozen=True, slots=True)
class Printed:
    """What may be sent in the frame. `types`: somebody's that it names, as SQL writes them, each once.

    `found`: every relation in it bears a schema. `fields`: those that it selects, by name.
    """

    text: str
    types: tuple[str, ...]
    found: bool
    fields: frozenset[str]
    writer: Writer

    def original(self, position: int) -> int:
        """Where `position` of `text`, from 1 as the server counts, stands in the original text."""
        return self.writer.original(position)


def printed(analysis: Analysis, names: Names, rules: Rules) -> Printed:
    """The statement of `analysis` for the frame of one server: its relations and somebody's types bear their schemas.

    So do names that a DBA allowed and PostgreSQL has not; all else stands as written. Raises `PrintingError`.
    """
    if not analysis.nodes <= allowed.NODES:
        raise PrintingError("it holds something that no query may hold")
    root: Any = parse_sql(analysis.body)[0].stmt
    framing = _Framing(analysis, names, rules)
    for node in nodes(root):
        rule = _FRAMING.get(type(node))
        if rule is not None:
            rule(framing, node)
    writer = Writer()
    fields = frozenset(analysis.field_selections)
    return Printed(_written(root, writer), tuple(framing.types), framing.found, fields, writer)


def placed(statement: Printed, names: Names, *, typed: bool) -> str:
    """The statement for the asker's own session, with every name that it uses or implies qualified.

    It means the same along any search path and under any setting, if the server agrees (`engine.upstream.referee`).
    `typed`: numbers in IN keep their own type; else they take the type of what they are compared with.
    Raises `PrintingError` where it cannot be written so, or only at great length.
    """
    if not statement.found:
        raise PrintingError("it names a relation that is not there")
    root: Any = parse_sql(statement.text)[0].stmt
    printer = _Printer(root, names, typed=typed)
    for name in statement.fields:
        printer.field(name)
    return _written(printer.anew(root), Writer())


def _written(root: Any, writer: Writer) -> str:
    text: str = writer(root)
    if not same(parse_sql(text)[0].stmt, root):
        raise PrintingError("pgparley cannot write it so that every server reads the same")
    return text


class _Framing:
    """Changes the nodes of one tree, each in its place."""

    def __init__(self, analysis: Analysis, names: Names, rules: Rules) -> None:
        self.types: dict[str, None] = {}
        self.found = True
        self._names = names
        self._ctes = {each.start for each in analysis.relations if each.cte}
        # The guard takes a bare name only where one schema has it.
        self._confirmed = {
            Kind.FUNCTION: {name: schema for schema, name in rules.functions},
            Kind.OPERATOR: {name: schema for schema, name in rules.operators},
        }

    def relation(self, node: Any) -> None:
        """A name in FROM: without its database, which is the connected one."""
        if node.location not in self._ctes:
            node.catalogname = None
            node.schemaname = node.schemaname or self._names.schemas.get(str(node.relname))
            self.found = self.found and node.schemaname is not None

    def type_name(self, node: Any) -> None:
        """A type's name."""
        name = written_name(node.names)
        if len(name) == 1 and name[0] not in allowed.TYPES and name[0] in self._names.types:
            name = (self._names.types[name[0]], *name)
            node.names = _strings(name)
        if len(name) > 1 and name[0] != SYSTEM:
            self.types[dotted(name)] = None

    def call(self, node: Any) -> None:
        """A function, which is called by its name."""
        node.funcname = self._named(Kind.FUNCTION, node.funcname)
        if written_name(node.funcname) not in _WORDED:
            node.funcformat = enums.CoercionForm.COERCE_EXPLICIT_CALL

    def expression(self, node: Any) -> None:
        """An operator; that of LIKE and its kin is in the tree."""
        node.kind = _Op.AEXPR_OP if node.kind in _LIKE else node.kind
        if node.kind in _OPERATORS:
            node.name = self._named(Kind.OPERATOR, node.name)

    def condition(self, node: Any) -> None:
        """AND, OR and NOT."""
        if node.boolop != enums.BoolExprType.NOT_EXPR:
            node.args = joined(node.boolop, node.args).args

    def _named(self, kind: Kind, parts: Any) -> Any:
        name = written_name(parts)
        schema = self._confirmed[kind].get(name[-1])
        known = len(name) > 1 or name[0] in _LISTED[kind] or schema is None
        return parts if known else _strings((schema, *name))  # type: ignore[arg-type]  # it is `known` where there is none


_FRAMING: dict[type[ast.Node], Callable[[_Framing, Any], None]] = {
    ast.RangeVar: _Framing.relation,
    ast.TypeName: _Framing.type_name,
    ast.FuncCall: _Framing.call,
    ast.A_Expr: _Framing.expression,
    ast.BoolExpr: _Framing.condition,
}


class _Printer:
    """Changes one tree in place, children first."""

    def __init__(self, root: Any, names: Names, *, typed: bool) -> None:
        self._typed = typed
        # Nodes are told apart by their identity: those that were replaced stay alive as long as this.
        self._parts = tuple(nodes(root))
        self._foreign = names.foreign
        self._own = frozenset[str]().union(*(relation.own for relation in names.relations))
        self._bound = bind_tree(root, _snapshot(names))
        self._left = MOST_COPIES
        if self._bound.problems or not can_say_on(self._bound, self._parts):
            raise PrintingError("a name in it is not known")

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
        ref = self._bound.refs.get(id(node.val)) if isinstance(node, ast.ResTarget) else None
        if shows_merged(ref):
            yield from expanded_star(ref)  # type: ignore[arg-type]  # it shows merged columns: a Star
        else:
            yield self.anew(node)

    def type_name(self, node: Any) -> Any:
        """A type's name."""
        node.names = _whole(SYSTEM, written_name(node.names))
        return node

    def call(self, node: Any) -> Any:
        """A function's name, and the text search configuration in its arguments."""
        name = written_name(node.funcname)
        node.funcname = self._named(Kind.FUNCTION, name, node.args)
        if name[-1] in allowed.CONFIGURED and len(node.args or ()) > 1:
            self._configuration(name[-1], node.args)
        return node

    def _configuration(self, name: str, arguments: Any) -> None:
        """The name of a text search configuration, which is a text that the server looks up (docs 12.1.3)."""
        first = arguments[0]
        if isinstance(first, ast.A_Const) and isinstance(first.val, ast.String):
            if name == "ts_headline" and len(arguments) == _EITHER:
                raise PrintingError("its first argument may name a configuration")
            if "." not in str(first.val.sval):
                first.val = ast.String(sval=f"{SYSTEM}.{first.val.sval}")

    def collation(self, node: Any) -> Any:
        """A collation's name; all that may be named are the system's."""
        node.collname = _strings((SYSTEM, node.collname[-1].sval))
        return node

    def sample(self, node: Any) -> Any:
        """A sampling method's name."""
        node.method = _strings((SYSTEM, node.method[-1].sval))
        return node

    def expression(self, node: Any) -> Any:
        """An operator, written as one or as a word."""
        if node.kind not in _OPERATORS:
            return spelled_out(node, self.operation, self.twin, typed=self._typed)
        node.name = self._named(Kind.OPERATOR, written_name(node.name), (node.lexpr, node.rexpr))
        return node

    def case(self, node: Any) -> Any:
        """A CASE that compares."""
        return node if node.arg is None else searched(node, self.operation, self.twin)

    def condition(self, node: Any) -> Any:
        """AND, OR and NOT."""
        return node if node.boolop == enums.BoolExprType.NOT_EXPR else joined(node.boolop, node.args)

    def sublink(self, node: Any) -> Any:
        """IN (SELECT …), and the other comparisons with what a subquery gives."""
        if node.subLinkType in {enums.SubLinkType.ANY_SUBLINK, enums.SubLinkType.ALL_SUBLINK}:
            name = written_name(node.operName) if node.operName else ("=",)
            node.operName = self._named(Kind.OPERATOR, name, node.testexpr)
        return node

    def sort(self, node: Any) -> Any:
        """ORDER BY … USING."""
        if node.useOp:
            node.useOp = self._named(Kind.OPERATOR, written_name(node.useOp), node.node)
        return node

    def operation(self, name: str, left: Any, right: Any, kind: enums.A_Expr_Kind = _Op.AEXPR_OP) -> Any:
        """See `engine.statement.printing.operators.Operation`."""
        parts = self._named(Kind.OPERATOR, (name,), (left, right))
        return ast.A_Expr(kind=kind, name=parts, lexpr=left, rexpr=right, location=-1)

    def _named(self, kind: Kind, name: Name, operands: Any) -> Any:
        """A name with its schema: somebody's where a type of somebody's stands in an operand, else PostgreSQL's."""
        schema = self._foreign.get((kind, name[-1])) if len(name) == 1 else None
        return _whole(schema if schema is not None and self._somebodys(operands) else SYSTEM, name)

    def _somebodys(self, operands: Any) -> bool:
        """Whether one of somebody's base types may be among the types of `operands`: a column's, or a cast's."""
        given = operands if isinstance(operands, tuple) else (operands,)
        # What an operator gives is mostly of another type than it takes.
        for node in nodes(tuple(each for each in given if not isinstance(each, ast.A_Expr))):
            match node:
                case ast.TypeName(names=(ast.String(sval=schema), _)) if schema != SYSTEM:
                    return True
                case ast.ColumnRef(fields=(*_, ast.String(sval=column))) if column in self._own:
                    return True
        return False

    def join(self, node: Any) -> Any:
        """A join that merges columns."""
        if node.isNatural or node.usingClause:
            return with_on(node, self._bound.merges.get(id(node), ()), self.operation)
        return node

    def column(self, node: Any) -> Any:
        """A column's name: what it merges, where it merges two."""
        ref = self._bound.refs.get(id(node))
        if isinstance(ref, Merged):
            return column_of(ref)
        if isinstance(ref, Cell) and ref.position is None and len(node.fields) > 1:
            self.field(ref.name)
        return node

    def field(self, name: str) -> None:
        """A field, or a column of what a function gives; raises `PrintingError` where it may call a function.

        A field goes before a function (docs 8.16.5), and of other names than these the guard knows that none could be
        called here: then it is a field that was found, and stays one along any path.
        """
        if name in allowed.FUNCTIONS | allowed.TYPES or (Kind.FUNCTION, name) in self._foreign:
            raise PrintingError("the name of a field may call a function")

    def constant(self, node: Any) -> Any:
        """A literal."""
        if isinstance(node.val, ast.String) and _DATE.match(str(node.val.sval)):
            raise PrintingError("DateStyle decides which date it means")
        return node

    def twin(self, node: Any) -> Any:
        """A copy; what differs each time it is evaluated would not mean the same."""
        if isinstance(node, tuple):
            return tuple(map(self.twin, node))
        if not isinstance(node, ast.Node):
            return node
        self._left -= 1
        whole: Any = node
        if self._left < 0:
            raise PrintingError("written out it would be too long")
        if isinstance(node, ast.FuncCall) and written_name(whole.funcname)[-1] in allowed.UNREPEATABLE:
            raise PrintingError("it compares a value that differs each time")
        copy: Any = type(whole)()
        for slot in whole.__slots__:
            setattr(copy, slot, self.twin(getattr(whole, slot)))
        return copy


_RULES: dict[type[ast.Node], Callable[[_Printer, Any], Any]] = {
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
        Table(each.schema, each.name, TableKind.TABLE, tuple(Column(name, "") for name in each.columns))
        for each in names.relations
    )
    return Snapshot("", (), tables)


def _whole(schema: str, name: Name) -> Any:
    return _strings(name if len(name) > 1 else (schema, *name))


def _strings(parts: Name) -> Any:
    return tuple(ast.String(sval=part) for part in parts)
