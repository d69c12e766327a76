"""Rules about groups that PostgreSQL refuses, numbers for all rows where one for each is asked for, and LIMIT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.references import LABELS, join_missing_tables
from engine.question.dimensions import aggregates, dimensions_not_grouped, is_measured
from engine.question.periods import Grain
from engine.statement.read import Draft
from engine.statement.scope import (
    Scopes,
    TableRef,
    conjuncts,
    identifier,
    keep_tests,
    tests_of,
    without_tests,
)
from engine.values import wording
from engine.values.elements import WHOLE_TABLE, LinkedDimension
from schema_catalog.types import Column, ColumnKey, TableKey, TableKind
from schema_catalog.words import CLEAR, identifier_words, shortness

_KEYED = (TableKind.TABLE, TableKind.PARTITIONED)
"""Relations whose primary key PostgreSQL groups by; a view's it does not know."""

GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
"""Elements of GROUP BY that make more than one set of groups."""


def mend_groups(statement: Draft, _context: Context) -> str | None:
    """Tests groups in HAVING, aggregates what is calculated of a group's rows, and groups by what is shown."""
    changed = (each(statement) for each in (_aggregate_in_having, _sum_ungrouped, _group_by_shown))
    return "; ".join(filter(None, changed)) or None


def _group_by_shown(statement: Draft) -> str | None:
    """Groups by each column that is shown or sorted by, unless its table's key is grouped by (docs 7.2.3)."""
    added: list[str] = []
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group") or exp.Group()
        if group.find(*GROUPING_SETS) is not None:
            continue
        if not group.expressions and not _sorted_by_aggregate(select):
            continue
        # One at a time: a key that was added makes its table's other columns dependent on it.
        while (column := _ungrouped(select, group, statement.scopes)) is not None:
            group.append("expressions", column.copy())
            select.set("group", group)
            added.append(column.name)
    return wording.of(wording.GROUPS_ALSO_BY, added)


def _sum_ungrouped(statement: Draft) -> str | None:
    """Sums each column of a calculation that is neither grouped by nor aggregated; averages it beside averages."""
    added: list[str] = []
    for select in statement.tree.find_all(exp.Select):
        grouped = (select.args.get("group") or exp.Group()).expressions
        for item in select.expressions:
            kinds = {type(each) for each in own_aggregates(item, select)} or {exp.Sum}
            if not isinstance(item.unalias(), exp.Binary) or not kinds < {exp.Sum, exp.Avg}:
                continue
            if not grouped and not item.find(exp.Sum, exp.Avg):
                continue
            inside = (exp.AggFunc, exp.Case, exp.Window, exp.Select)
            for column in [
                each for each in item.find_all(exp.Column) if each.find_ancestor(*inside) is select
            ]:
                if not _determined(column, grouped, statement.scopes):
                    column.replace(next(iter(kinds))(this=column.copy()))
                    added.append(column.name)
    return wording.of(wording.AGGREGATES, added)


def _aggregate_in_having(statement: Draft) -> str | None:
    """Tests groups (HAVING) where WHERE tests an aggregate; those of the shown columns, where it makes none."""
    moved: list[str] = []
    for select in statement.tree.find_all(exp.Select):
        tests = tests_of(select)
        aggregated = [test for test in tests if own_aggregates(test, select)]
        shown = [each.copy() for each in plain_columns(select.expressions)] if aggregated else []
        group = select.args.get("group") or exp.Group(expressions=shown)
        if not aggregated or not group.expressions:
            continue
        keep_tests(select, without_tests(tests, aggregated))
        select.set("group", group)
        having = select.args.get("having")
        there = [] if having is None else list(conjuncts(having.this))
        select.set("having", exp.Having(this=exp.and_(*there, *aggregated, copy=False)))
        moved += [each.sql(dialect="postgres") for each in aggregated]
    return wording.of(wording.TESTS_GROUPS, moved)


def own_aggregates(node: exp.Expr, select: exp.Select) -> list[exp.AggFunc]:
    """Those within `node` of the rows of `select`, which is around it, but window functions."""
    found = (each for each in node.find_all(exp.AggFunc) if each.parent_select is select)
    return [each for each in found if not isinstance(each.parent, exp.Window)]


def plain_columns(items: Iterable[exp.Expr]) -> list[exp.Column]:
    """Those of what is shown or sorted by that are a column."""
    shown = (each.unalias() for each in items)
    return [each for each in shown if isinstance(each, exp.Column) and not isinstance(each.this, exp.Star)]


def _ungrouped(select: exp.Select, group: exp.Group, scopes: Scopes) -> exp.Column | None:
    """The first column shown or sorted by that is not functionally dependent on what is grouped by."""
    order = select.args.get("order")
    sorted_by = [each.this for each in (order.expressions if order is not None else [])]
    aliases = {each.alias for each in select.expressions if isinstance(each, exp.Alias)}
    for column in plain_columns([*select.expressions, *sorted_by]):
        alias = not column.table and column.name in aliases
        if not alias and not _determined(column, group.expressions, scopes):
            return column
    return None


def _sorted_by_aggregate(select: exp.Select) -> bool:
    """Whether an aggregate is in ORDER BY and nowhere else: then each row that is shown stands for a group."""
    order = select.args.get("order")
    aggregates = [
        found
        for part in (*select.expressions, *([order] if order else []))
        for found in part.find_all(exp.AggFunc)
        if found.find_ancestor(exp.Window, exp.Select) is select
    ]
    return bool(aggregates) and all(
        found.find_ancestor(exp.Order, exp.Select) is order for found in aggregates
    )


def _determined(column: exp.Column, grouped: Sequence[exp.Expression], scopes: Scopes) -> bool:
    """Whether the column is functionally dependent on what is grouped by, or its table is not known."""
    read = scopes.reading(column)
    if read is None or read.table is None:
        return True
    there = {
        each.name
        for each in grouped
        if isinstance(each, exp.Column)
        and (other := scopes.reading(each)) is not None
        and other.name == read.name
    }
    key = read.table.primary_key if read.table.kind in _KEYED else ()
    return column.name in there or (bool(key) and set(key) <= there)


def drop_unasked_limit(statement: Draft, context: Context) -> str | None:
    """Shows all rows of a statement with a LIMIT that the question does not ask for."""
    if not any(rows_left_out(statement, context)):
        return None
    statement.tree.set("limit", None)
    return wording.SHOWS_ALL


def rows_left_out(statement: Draft, context: Context) -> Iterator[str]:
    """In words, that a statement has a LIMIT though the question asks for all rows."""
    if isinstance(statement.tree.args.get("limit"), exp.Limit) and context.question.asks_for_all:
        yield wording.SHOWS_SOME


def first_by_words(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the columns without digits by whose order rows are left out, unless the question speaks of an order."""
    cut = [
        select
        for select in statement.tree.find_all(exp.Select)
        if isinstance(select.args.get("limit"), exp.Limit) and select.args.get("order") is not None
    ]
    if context.question.speaks_of_order or not cut:
        return
    numbered = {each.column for each in context.lists if any(any(map(str.isdigit, v)) for v in each.values)}
    words = {each.column for each in context.lists if each.values} - numbered
    # The labels of an enum have an order of their own, mostly from the least to the greatest.
    words -= {(*table.key, each.name) for table, each in statement.scopes.snapshot.columns() if each.labels}
    for select in cut:
        first = select.args["order"].expressions[0].this
        if statement.scopes.key(first) in words:
            yield wording.FIRST_BY_TEXT.format(first.name)


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

_CLOSED = ("group", "having", "windows", "qualify", "with_", "with")
"""Clauses of a query that is left as it is."""


def group_by_dimension(statement: Draft, context: Context) -> str | None:
    """Shows and groups by what the question asks a number for each of; a query of plain rows counts them."""
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
    return wording.of(wording.NUMBER_FOR_EACH, (each.asked.text for each in asked))


def not_grouped(statement: Draft, context: Context) -> Iterator[str]:
    """In words, what the question asks a number for each of, where one is given for all."""
    for each in dimensions_not_grouped(context.question.dimensions, statement.tree):
        yield wording.NUMBER_FOR_ALL.format(each)


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
        return _period(grain, reads, scopes.keys(tests_of(select)), context)
    measured = scopes.keys(aggregates(select))
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
    label = not LABELS.isdisjoint(words)
    near = dimension.cosines[key]
    if words.issuperset(identifier_words(dimension.asked.text)):
        near = max(near, NAMED)
    if label:
        near = LABEL + max(near, dimension.cosines.get((*key[:2], WHOLE_TABLE), -1.0))
    return near + LINKED * context.linked.get(key, 0.0)


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
