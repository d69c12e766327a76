"""A look at the data as the asker: one cheap statement within limits of time and cost, or nothing is known.

And by such a look which lists of values are still whole: those that the grammar may hold a statement to. A list was
whole when it was read. Whether the column has other values by now is asked in one statement; a list of which that is
not known holds nobody to anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from engine.values.deadline import Deadline
from engine.values.elements import ValueList
from engine.values.errors import NLError
from engine.values.ports import StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import TableKey


async def looked(
    sql: str, route: Route, state: State, tools: Tools, seconds: float
) -> tuple[str | None, ...] | None:
    """The first row of `sql`; None where that is not known: too costly, too slow, not allowed.

    Raises `CancelledError` where the question's time is over.
    """
    if not tools.limits.run_candidates:
        return None
    clock = state.deadline.clock
    deadline = Deadline(clock() + min(seconds, state.deadline.remaining()), clock)
    asker, upstream = state.ask.asker, tools.upstream
    try:
        if await upstream.explain(route.database, asker, sql, deadline) > tools.limits.run_cost:
            return None
        result = await upstream.run(route.database, asker, sql, 1, deadline)
    except (StatementError, NLError):
        state.deadline.remaining()
        return None
    return result.rows[0]


CHARACTERS, TOKENS, TABLES = 18_000, 3_600, 40
"""Of a look at most: the guard reads no longer statement."""

_OF_LIST, _OF_VALUE = 34, 2
"""Tokens."""

ROWS = 1_000_000
"""Rows of all tables that are read for it, at most, by the planner's estimates."""

SECONDS = 1.0
"""For the look at most, of what the question has left."""

_WHOLE, _EMPTY_TOO = "0", "1"
"""What the look says of a column that has no other value, and of one that has the empty text besides."""


async def whole_lists(
    lists: Sequence[ValueList], route: Route, state: State, tools: Tools
) -> tuple[ValueList, ...]:
    """Those of `lists` that hold all values of their columns now, as many as the limits allow, the first ones.

    Raises `CancelledError` where the question's time is over.
    """
    kept = _within_limits(lists, route)
    row = await looked(_look(kept), route, state, tools, SECONDS) if kept else None
    if row is None:
        return ()
    said = dict(zip((each.column for each in kept), row, strict=True))
    return tuple(
        ValueList(each.column, (*each.values, "") if said[each.column] == _EMPTY_TOO else each.values)
        for each in kept
        if said[each.column] in (None, _WHOLE, _EMPTY_TOO)
    )


def _within_limits(lists: Sequence[ValueList], route: Route) -> list[ValueList]:
    """The lists by table, of the first tables that fit."""
    rows: Mapping[TableKey, int] = {table.key: table.row_estimate or 0 for table in route.snapshot.tables}
    kept: list[ValueList] = []
    characters = tokens = read = tables = 0
    for table, group in groupby(lists, key=lambda each: each.column[:2]):
        own = list(group)
        length = characters + len(_table_look(table, own))
        count = tokens + sum(_OF_LIST + _OF_VALUE * len(each.values) for each in own)
        fits = length <= CHARACTERS and count <= TOKENS and tables < TABLES
        if fits and read + rows.get(table, 0) <= ROWS:
            kept, tables = [*kept, *own], tables + 1
            characters, tokens, read = length, count, read + rows.get(table, 0)
    return kept


def _look(lists: Sequence[ValueList]) -> str:
    """One row with a value for each list, in their order; each table is read once."""
    tables = [
        f"({_table_look(table, own)}) AS t{number}"
        for number, (table, own) in enumerate(groupby(lists, key=lambda each: each.column[:2]))
    ]
    return f"SELECT * FROM {', '.join(tables)}"  # noqa: S608  all parts are quoted


def _table_look(table: TableKey, lists: Iterable[ValueList]) -> str:
    looks = []
    for each in lists:
        column, values = quote_ident(each.column[2]), ", ".join(map(quote_literal, each.values))
        looks.append(
            f"max(CASE WHEN {column} IS NULL OR {column} IN ({values}) THEN {_WHOLE}"
            f" WHEN {column} = '' THEN {_EMPTY_TOO} ELSE 2 END)"
        )
    return f"SELECT {', '.join(looks)} FROM {'.'.join(map(quote_ident, table))}"  # noqa: S608  all parts are quoted
