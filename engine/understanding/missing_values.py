"""The texts of a statement that the columns they are compared with do not hold.

A linked value is known to be stored; the others are looked for as the asker, read-only, in one statement within limits
of time and cost. What could not be looked for is neither present nor missing, but unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from pglast import ast, enums

from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.elements import Relation
from engine.core.ports import StatementError
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.errors import NLError
from engine.guard.analyse import UnreadableError
from engine.sql.binder import bind
from engine.sql.bound_query import Bound, Cell
from engine.understanding.types import Literal, LiteralCheck
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey, Snapshot, Table
from schema_catalog.values import TEXT_TYPES

LOOKED_FOR = 8
"""Literals looked for at most: a statement with more holds a list that somebody gave."""

SECONDS = 1.0
"""For the look at most, of what the question has left."""

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


async def check_literals(candidate: Candidate, route: Route, state: State, tools: Tools) -> LiteralCheck:
    """Which of the candidate's texts occur in their columns. Raises `CancelledError` where the question's time is over.

    Costs a statement on the asker's connection where a text is not among `route.values`; nothing without texts.
    """
    literals = await asyncio.to_thread(compared_literals, candidate.sql, route.snapshot)
    known = [each for each in literals if _is_linked(each, route)]
    open_ = [each for each in literals if each not in known]
    may_look = bool(open_) and len(open_) <= LOOKED_FOR and tools.limits.run_candidates
    found = await _looked_for(open_, route, state, tools) if may_look else None
    if found is None:
        return LiteralCheck(present=tuple(known), unknown=tuple(open_))
    present = [each for each, there in zip(open_, found, strict=True) if there]
    missing = [each for each, there in zip(open_, found, strict=True) if not there]
    return LiteralCheck((*known, *present), tuple(missing))


def compared_literals(sql: str, snapshot: Snapshot) -> tuple[Literal, ...]:
    """The texts that columns of type text are compared with, each once; none of what is no query.

    By =, <>, IN, NOT IN, IS DISTINCT FROM, LIKE and ILIKE.
    """
    try:
        bound = bind(sql, snapshot)
    except UnreadableError:
        return ()
    tables = {table.key: table for table in snapshot.tables}
    found = (literal for node in _expressions(bound.root) for literal in _literals(node, bound))
    return tuple(dict.fromkeys(each for each in found if _is_text(each.column, tables[each.column[:2]])))


def _expressions(root: object) -> Iterator[ast.A_Expr]:
    stack = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
        elif isinstance(part, ast.Node):
            if isinstance(part, ast.A_Expr):
                yield part
            node: Any = part
            stack.extend(getattr(node, slot) for slot in node.__slots__)


def _literals(node: Any, bound: Bound) -> Iterator[Literal]:
    """The literals of one comparison with a column of a table, on either side; none of another comparison."""
    if node.kind not in _KINDS or node.name[-1].sval not in _OPERATORS:
        return
    for column, other in ((node.lexpr, node.rexpr), (node.rexpr, node.lexpr)):
        ref = bound.refs.get(id(column))
        if not isinstance(ref, Cell) or not isinstance(ref.source.origin, Table) or ref.position is None:
            continue
        table = ref.source.origin
        key = (*table.key, table.columns[ref.position].name)
        operator = node.name[-1].sval
        negated = operator == "<>" or node.kind is enums.A_Expr_Kind.AEXPR_DISTINCT
        for value in other if isinstance(other, tuple) else (other,):
            if isinstance(value, ast.A_Const) and isinstance(value.val, ast.String):
                yield Literal(key, value.val.sval or "", operator[0] == "~", operator == "~~*", negated)


def _is_text(column: ColumnKey, table: Table) -> bool:
    type_ = next(each.type for each in table.columns if each.name == column[2])
    return type_.split("(")[0] in TEXT_TYPES


def _is_linked(literal: Literal, route: Route) -> bool:
    """Whether a link holds the value as it is stored."""
    return not literal.pattern and any(
        literal.text in link.values
        for link in route.values
        if link.column == literal.column and link.relation is not Relation.SUCH_AS
    )


async def _looked_for(
    literals: Sequence[Literal], route: Route, state: State, tools: Tools
) -> tuple[bool, ...] | None:
    """Whether each occurs; None where that is not known: too costly, too slow, not allowed."""
    sql = f"SELECT {', '.join(map(_exists, literals))}"
    deadline = Deadline(
        state.deadline.clock() + min(SECONDS, state.deadline.remaining()), state.deadline.clock
    )
    asker, upstream = state.ask.asker, tools.upstream
    try:
        plan = await upstream.explain(route.database, asker, sql, deadline)
        if plan.cost > tools.limits.run_cost:
            return None
        result = await upstream.run(route.database, asker, sql, 1, deadline)
    except (StatementError, NLError):
        state.deadline.remaining()
        return None
    return tuple(value == "t" for value in result.rows[0])


def _exists(literal: Literal) -> str:
    schema, table, column = map(quote_ident, literal.column)
    compared = ("ILIKE" if literal.any_case else "LIKE") if literal.pattern else "="
    text = quote_literal(literal.text)
    return f"EXISTS (SELECT 1 FROM {schema}.{table} WHERE {column} {compared} {text})"  # noqa: S608  all parts are quoted
