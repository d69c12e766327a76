"""The texts of a statement that the columns they are compared with do not hold.

A linked value is known to be stored; the others are looked for as the asker, read-only, in one statement within limits
of time and cost. What could not be looked for is neither present nor missing, but unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pglast import ast, enums

from engine.guard.analyse import UnreadableError
from engine.link.looking import looked
from engine.link.standing import is_sensitive
from engine.statement.bound_query import Bound, Cell
from engine.statement.printing.trees import nodes
from engine.statement.read import statement_of
from engine.values.candidate import Candidate
from engine.values.elements import Literal, LiteralCheck, Relation, UnknownPhrase
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey, Snapshot, Table
from schema_catalog.values import TEXT_TYPES

LOOKED_FOR = 8
"""Literals looked for at most: a statement with more holds a list that somebody gave."""

SECONDS, CASE_SECONDS = 1.0, 0.2
"""For a look at most, of what the question has left: for texts as they are, and in any case, which no index helps."""

WORDS, COLUMNS = 3, 8
"""Words of a question, and columns of text in which they are looked for, at most."""

_KINDS = frozenset(
    {
        enums.A_Expr_Kind.AEXPR_OP,
        enums.A_Expr_Kind.AEXPR_IN,
        enums.A_Expr_Kind.AEXPR_DISTINCT,
        enums.A_Expr_Kind.AEXPR_LIKE,
        enums.A_Expr_Kind.AEXPR_ILIKE,
    }
)
_OPERATORS = frozenset({"=", "<>", "~~", "~~*"})
"""Equality, IN and their negations, LIKE, ILIKE, as PostgreSQL's parser names them."""

_ARRAY_OPERATORS = frozenset({"@>", "&&"})


async def check_literals(candidate: Candidate, route: Route, state: State, tools: Tools) -> LiteralCheck:
    """Which of the candidate's texts occur in their columns. Raises `CancelledError` where the question's time is over.

    Costs a statement on the asker's connection where a text is not among `route.values`; nothing without texts.
    """
    literals = await asyncio.to_thread(compared_literals, candidate.sql, route.snapshot)
    known = [each for each in literals if _is_linked(each, route)]
    open_ = [each for each in literals if each not in known]
    may_look = bool(open_) and len(open_) <= LOOKED_FOR
    sql = f"SELECT {', '.join(map(_exists, open_))}"
    row = await looked(sql, route, state, tools, SECONDS) if may_look else None
    if row is None:
        return LiteralCheck(present=tuple(known), unknown=tuple(open_))
    found = [value == "t" for value in row]
    present = [each for each, there in zip(open_, found, strict=True) if there]
    missing = [each for each, there in zip(open_, found, strict=True) if not there]
    in_any_case = await _in_any_case(missing, route, state, tools)
    return LiteralCheck((*known, *present), tuple(missing), in_any_case=in_any_case)


async def _in_any_case(
    missing: Sequence[Literal], route: Route, state: State, tools: Tools
) -> tuple[Literal, ...]:
    """The literals that are stored with other capital letters; none where that is not known."""
    plain = [each for each in missing if not (each.pattern or each.member)]
    equal = [each for each in plain if each.text.lower() != each.text.upper()]
    sql = f"SELECT {', '.join(map(_held, equal))}"
    row = await looked(sql, route, state, tools, CASE_SECONDS) if equal else None
    return tuple(each for each, there in zip(equal, row or (), strict=row is not None) if there == "t")


async def held_words(
    words: Sequence[UnknownPhrase], route: Route, state: State, tools: Tools
) -> tuple[UnknownPhrase, ...]:
    """Those of `words` that no column of text holds as a value, with the columns that were looked through.

    Of the likeliest tables. All of them, with none looked through, where that is not known. Raises as `check_literals`.
    """
    every = _text_columns(route)
    columns = every[:COLUMNS]
    words = [replace(each, unlooked=len(every)) for each in words]
    if not words or len(words) > WORDS or not columns:
        return tuple(words)
    literals = [[Literal(column, each.text) for column in columns] for each in words]
    tests = (f"({' OR '.join(map(_held, some))})" for some in literals)
    row = await looked(f"SELECT {', '.join(tests)}", route, state, tools, CASE_SECONDS)
    if row is None:
        return tuple(words)
    return tuple(
        replace(each, looked=tuple(columns), unlooked=len(every) - len(columns))
        for each, there in zip(words, row, strict=True)
        if there != "t"
    )


def _held(literal: Literal) -> str:
    schema, table, column = map(quote_ident, literal.column)
    return f"EXISTS (SELECT 1 FROM {schema}.{table} WHERE lower({column}::text) = lower({quote_literal(literal.text)}))"  # noqa: S608  all parts are quoted


def _text_columns(route: Route) -> list[ColumnKey]:
    tables = {table.key: table for table in route.snapshot.tables}
    return [
        (*key, column.name)
        for key in route.tables
        if key in tables
        for column in tables[key].columns
        if column.type.split("(")[0] in TEXT_TYPES and not is_sensitive(column)
    ]


def compared_literals(sql: str, snapshot: Snapshot) -> tuple[Literal, ...]:
    """The texts that columns of type text are compared with, each once; none of what is no query.

    By =, <>, IN, NOT IN, IS DISTINCT FROM, LIKE and ILIKE; of arrays of text by = ANY, @> and &&.
    """
    try:
        bound = statement_of(sql, snapshot).bound
    except UnreadableError:
        return ()
    tables = {table.key: table for table in snapshot.tables}
    compared = (node for node in nodes(bound.root) if isinstance(node, ast.A_Expr))
    found = (literal for node in compared for literal in _literals(node, bound))
    return tuple(dict.fromkeys(each for each in found if _is_text(each, tables[each.column[:2]])))


def _literals(node: Any, bound: Bound) -> Iterator[Literal]:
    """The literals of one comparison with a column of a table, on either side; none of another comparison."""
    operator = node.name[-1].sval
    any_of = node.kind is enums.A_Expr_Kind.AEXPR_OP_ANY and operator == "="
    member = any_of or operator in _ARRAY_OPERATORS
    if not member and (node.kind not in _KINDS or operator not in _OPERATORS):
        return
    for column, other in ((node.lexpr, node.rexpr), (node.rexpr, node.lexpr)):
        ref = bound.refs.get(id(column))
        if not isinstance(ref, Cell) or not isinstance(ref.source.origin, Table) or ref.position is None:
            continue
        table = ref.source.origin
        key = (*table.key, table.columns[ref.position].name)
        negated = operator == "<>" or node.kind is enums.A_Expr_Kind.AEXPR_DISTINCT
        if isinstance(other, ast.A_ArrayExpr):
            other = tuple(other.elements or ())  # noqa: PLW2901 - what is compared one by one
        for value in other if isinstance(other, tuple) else (other,):
            if isinstance(value, ast.A_Const) and isinstance(value.val, ast.String):
                yield Literal(
                    key, value.val.sval or "", operator[0] == "~", operator == "~~*", negated, member
                )


def _is_text(literal: Literal, table: Table) -> bool:
    type_ = next(each.type for each in table.columns if each.name == literal.column[2])
    plain = type_.removesuffix("[]")
    return plain.split("(")[0] in TEXT_TYPES and literal.member is (plain != type_)


def _is_linked(literal: Literal, route: Route) -> bool:
    """Whether a link holds the value as it is stored."""
    return not literal.pattern and any(
        literal.text in link.values
        for link in route.values
        if link.column == literal.column and link.relation is not Relation.SUCH_AS
    )


def _exists(literal: Literal) -> str:
    schema, table, column = map(quote_ident, literal.column)
    compared = ("ILIKE" if literal.any_case else "LIKE") if literal.pattern else "="
    text = quote_literal(literal.text)
    if literal.member:
        return f"EXISTS (SELECT 1 FROM {schema}.{table} WHERE {text} = ANY ({column}))"  # noqa: S608  all parts are quoted
    return f"EXISTS (SELECT 1 FROM {schema}.{table} WHERE {column} {compared} {text})"  # noqa: S608  all parts are quoted
