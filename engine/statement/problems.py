"""Names of a statement: those of its outputs, and what is wrong with the others.

PostgreSQL's name of an output column without alias (`FigureColname` in its parse_target.c).

Later clauses and enclosing queries refer to columns by these names.

Problems with a statement's names, whose messages help a user or a repairing model.

Owns the wording. Names come as PostgreSQL holds them and are shown as SQL writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pglast import ast, enums

from schema_catalog.naming import dotted, quote_ident

_FIXED: dict[type[ast.Node], str] = {
    ast.CoalesceExpr: "coalesce",
    ast.RowExpr: "row",
    ast.A_ArrayExpr: "array",
    ast.GroupingFunc: "grouping",
    ast.JsonParseExpr: "json",
    ast.JsonScalarExpr: "json_scalar",
    ast.JsonSerializeExpr: "json_serialize",
    ast.JsonObjectConstructor: "json_object",
    ast.JsonArrayConstructor: "json_array",
    ast.JsonArrayQueryConstructor: "json_array",
    ast.JsonObjectAgg: "json_objectagg",
    ast.JsonArrayAgg: "json_arrayagg",
}


def output_name(node: Any) -> str:
    """The name of an output column whose expression is `node`."""
    return _figured(node)[0] or "?column?"


_Figured = tuple[str | None, bool]
"""(name, strong): a weak name (a cast's type, "case") yields to a strong one."""


def _figured(node: Any) -> _Figured:
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node)
    name = _FIXED.get(type(node))
    return name, name is not None


def _of_operator(node: Any) -> _Figured:
    return ("nullif", True) if node.kind == enums.A_Expr_Kind.AEXPR_NULLIF else (None, False)


def _of_cast(node: Any) -> _Figured:
    name, good = _figured(node.arg)
    return (name, True) if good else (_last(node.typeName.names), False)


def _of_case(node: Any) -> _Figured:
    name, good = _figured(node.defresult)
    return (name, True) if good else ("case", False)


def _of_path(node: Any) -> _Figured:
    indirection = isinstance(node, ast.A_Indirection)
    names = [part.sval for part in (node.indirection if indirection else node.fields) if _is_name(part)]
    if names:
        return names[-1], True
    return _figured(node.arg) if indirection else (None, False)


def _of_sublink(node: Any) -> _Figured:
    if node.subLinkType in _SUBLINKS:
        return _SUBLINKS[node.subLinkType], True
    if node.subLinkType != enums.SubLinkType.EXPR_SUBLINK:
        return None, False
    select = node.subselect
    while select.larg is not None:
        select = select.larg
    if select.valuesLists:
        return "column1", True
    if not select.targetList:  # PostgreSQL refuses it, after this has read it.
        return None, False
    target = select.targetList[0]
    return target.name or output_name(target.val), True


def _of_keyword(node: Any) -> _Figured:
    name: str = node.op.name
    return name.removeprefix("SVFOP_").removesuffix("_OP").removesuffix("_N").lower(), True


def _of_minmax(node: Any) -> _Figured:
    return ("greatest" if node.op == enums.MinMaxOp.IS_GREATEST else "least"), True


def _is_name(part: object) -> bool:
    return isinstance(part, ast.String)


def _last(parts: Any) -> str:
    name: str = parts[-1].sval
    return name


_SUBLINKS = {enums.SubLinkType.EXISTS_SUBLINK: "exists", enums.SubLinkType.ARRAY_SUBLINK: "array"}
_RULES: dict[type[ast.Node], Callable[[Any], _Figured]] = {
    ast.ColumnRef: _of_path,
    ast.A_Indirection: _of_path,
    ast.FuncCall: lambda node: (_last(node.funcname), True),
    ast.A_Expr: _of_operator,
    ast.TypeCast: _of_cast,
    ast.CollateClause: lambda node: _figured(node.arg),
    ast.CaseExpr: _of_case,
    ast.SubLink: _of_sublink,
    ast.MinMaxExpr: _of_minmax,
    ast.SQLValueFunction: _of_keyword,
    ast.JsonFuncExpr: _of_keyword,
}


Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """`message`: one sentence without a full stop. `table`, `column`: what is named there and cannot be seen, if it is.

    A table is not in FROM, no table in scope has the column.
    """

    message: str
    table: str = ""
    column: str = ""


def unknown_table(name: Names, similar: Names) -> Problem:
    """No such table is visible. `similar`: names to write instead, closest first."""
    return Problem(f"table {dotted(name)} does not exist{_instead(similar)}")


def unknown_column(
    name: Names, similar: Names = (), elsewhere: Names = (), *, output: bool = False
) -> Problem:
    """No table in scope has the column.

    `name`: with its qualifier, where written. `similar`: columns in scope with a close name. `elsewhere`: columns of
    exactly this name in tables that are not in FROM. `output`: an output column has this name, which the clause cannot
    see.
    """
    text = f"column {dotted(name)} does not exist here"
    if output:
        text += ": an output name is visible only to ORDER BY and GROUP BY, repeat the expression"
    elif elsewhere and not similar:
        text += f"; there is {_listed(elsewhere)}, whose table is not in FROM"
    else:
        text += _instead(similar)
    return Problem(text, column=name[-1])


def ambiguous_column(name: str, choices: Names = ()) -> Problem:
    """The name means several columns. `choices`: each, qualified; none where no qualifier tells them apart."""
    write = (
        f"write {_listed(choices)}"
        if choices
        else "give the columns that it may mean different names with AS"
    )
    return Problem(f"column {quote_ident(name)} is ambiguous: {write}")


def not_in_from(name: Names, called: Names, similar: Names) -> Problem:
    """A qualifier that FROM does not hold. `called`: the alias that hides the table of this name."""
    text = f"{dotted(name)} is not in FROM"
    text += f" under this name: it is called {_listed(called)} there" if called else _instead(similar)
    return Problem(text, table=name[-1])


def duplicate_name(name: str) -> Problem:
    """Two entries of one FROM have the same name."""
    return Problem(f"name {quote_ident(name)} is given twice in FROM: give one of them another alias")


def no_such_output(place: int, outputs: int) -> Problem:
    """ORDER BY or GROUP BY names an output column that does not exist by its number."""
    return Problem(f"there is no output column {place}: the query gives {outputs}")


def whole_row(name: str) -> Problem:
    """All columns of a table at once, unnamed or by position, where some of them are kept from questions."""
    return Problem(f"the columns of {quote_ident(name)} are named one by one here, without * and NATURAL")


def _listed(choices: Names) -> str:
    return " or ".join(choices)


def _instead(similar: Names) -> str:
    return f"; did you mean {_listed(similar)}?" if similar else ""
