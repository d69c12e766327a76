"""A rule about what a question asks a number for each of, where a statement gives one for all rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from engine.core.elements import WHOLE_TABLE
from engine.linking.dimensions import (
    Grain,
    LinkedDimension,
    aggregates,
    is_measured,
)
from engine.rewrite.join_tree import tests_of
from engine.rewrite.rule import Context, Statement
from engine.rewrite.rules.references import join_missing_tables
from engine.rewrite.scope import Scopes, TableRef, identifier
from engine.text.abbreviations import CLEAR, shortness
from engine.text.tokens import identifier_words
from schema_catalog.types import Column, ColumnKey, TableKey

HOPS = 2
"""References at most from a table that is read to the one with the dimension's column."""

LINKED = 0.5
"""What the schema linker's probability counts beside a cosine."""

NAMED = 0.75
"""Least cosine that counts for a column whose name has all the words of a dimension."""

LABEL = 0.05
"""What counts for a column that names the rows of its table, which people read, beside a key."""

FARTHER = 0.03
"""What counts against a table for each reference to it."""

_LABELS = frozenset({"name", "title", "label", "description", "nm", "desc", "dsc", "descr"})

_CLOSED = ("group", "having", "windows", "qualify", "with_", "with")
"""Clauses of a query that is left as it is."""


def group_by_dimension(statement: Statement, context: Context) -> str | None:
    """Shows and groups by what the question asks a number for each of; a query of plain rows counts them.

    For a query that shows aggregates alone, or whole rows, or nothing but what it is to be grouped by.
    """
    select = statement.tree
    if not isinstance(select, exp.Select) or any(select.args.get(clause) for clause in _CLOSED):
        return None
    measured = aggregates(select)
    if measured and not all(item.find(exp.AggFunc) for item in select.expressions):
        return None
    order = select.args.get("order")
    parts = [*measured] or ([order] if order else [])
    asked = [each for each in context.dimensions if not is_measured(each.asked, parts)]
    keys = [key for each in asked if (key := _key(each, select, statement.scopes, context)) is not None]
    if not keys or len(keys) < len(asked):
        return None
    if not measured:
        if any(each.asked.listed for each in asked) or not _shows_rows(select, keys):
            return None
        select.set("expressions", [exp.Count(this=exp.Star(), big_int=True)])
        select.set("order", None)
    statement.scopes.qualify(select)
    select.set("expressions", [*(key.copy() for key in keys), *select.expressions])
    select.set("group", exp.Group(expressions=keys))
    select.set("distinct", None)
    join_missing_tables(statement, context)
    return f"gives a number for each {', '.join(each.asked.text for each in asked)}"


def _shows_rows(select: exp.Select, keys: Iterable[exp.Expr]) -> bool:
    """Whether a query shows whole rows, or columns that `keys` are."""
    names = {column.name for key in keys for column in key.find_all(exp.Column)}
    items = [item.unalias() for item in select.expressions]
    return all(isinstance(item, exp.Star) for item in items) or all(
        isinstance(item, exp.Column) and (item.name in names or isinstance(item.this, exp.Star))
        for item in items
    )


def _key(dimension: LinkedDimension, select: exp.Select, scopes: Scopes, context: Context) -> exp.Expr | None:
    """What stands for a dimension: the likeliest column, or a length of time of one."""
    reads = [read for read in scopes.reads[id(select)] if read.table is not None]
    grain = dimension.asked.grain
    if grain is not None:
        tested = {key for test in tests_of(select) for key in _columns(test, scopes)}
        return _period(grain, reads, tested, context)
    measured = {key for each in aggregates(select) for key in _columns(each, scopes)}
    near = _near(reads, context)
    best = max(
        (
            key
            for key in dimension.cosines
            if key[:2] in near and key[2] != WHOLE_TABLE and key not in measured
        ),
        key=lambda key: _score(key, dimension, context) - FARTHER * near[key[:2]][1],
        default=None,
    )
    return None if best is None else exp.column(identifier(best[2]), identifier(near[best[:2]][0]))


def _near(reads: Iterable[TableRef], context: Context) -> dict[TableKey, tuple[str, int]]:
    """The tables that are read, and those that they refer to: the name in FROM, and how many references away."""
    found = {read.table.key: (read.name, 0) for read in reads if read.table is not None}
    for hops in range(1, HOPS + 1):
        found |= {
            edge.other: (edge.other[1], hops)
            for table in found
            for edge in context.references.edges(table)
            if edge.referring and edge.other not in found
        }
    return found


def _score(key: ColumnKey, dimension: LinkedDimension, context: Context) -> float:
    """What names the rows of a table is as near as the table itself, and what has all the words at least NAMED."""
    words = set(identifier_words(key[2]))
    label = not _LABELS.isdisjoint(words)
    near = dimension.cosines[key]
    if words.issuperset(identifier_words(dimension.asked.text)):
        near = max(near, NAMED)
    if label:
        near = LABEL + max(near, dimension.cosines.get((*key[:2], WHOLE_TABLE), -1.0))
    return near + LINKED * context.linked.get(key, 0.0)


def _columns(part: exp.Expr, scopes: Scopes) -> Iterator[ColumnKey]:
    for column in part.find_all(exp.Column):
        read = scopes.reading(column)
        if read is not None and read.table is not None:
            yield (*read.table.key, column.name)


def _period(
    grain: Grain, reads: Iterable[TableRef], tested: set[ColumnKey], context: Context
) -> exp.Expr | None:
    """A column named after a length of time, or the length of time of a date or timestamp."""
    held = [(read, column) for read in reads if read.table is not None for column in read.table.columns]
    for read, column in held:
        if any(shortness(part, grain.value) >= CLEAR for part in identifier_words(column.name)):
            return exp.column(identifier(column.name), identifier(read.name))
    times = [each for each in held if _is_time(each[1], grain)]
    if not times:
        return None

    def order(each: tuple[TableRef, Column]) -> tuple[bool, float]:
        key = (*each[0].table.key, each[1].name) if each[0].table is not None else ("", "", "")
        return key in tested, context.linked.get(key, 0.0)

    read, column = max(times, key=order)
    when = exp.column(identifier(column.name), identifier(read.name))
    if grain is Grain.YEAR:
        return exp.Extract(this=exp.var("YEAR"), expression=when)
    return exp.TimestampTrunc(this=when, unit=exp.var(grain.value.upper()))


def _is_time(column: Column, grain: Grain) -> bool:
    return column.type.startswith("timestamp") or (column.type == "date" and grain is not Grain.HOUR)
