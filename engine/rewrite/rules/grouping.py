"""Rules about groups that PostgreSQL refuses: columns that are shown and not grouped by, aggregates in WHERE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from engine.rewrite.join_tree import conjuncts, keep_tests, tests_of, without_tests
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes
from schema_catalog.types import TableKind

_KEYED = (TableKind.TABLE, TableKind.PARTITIONED)
"""Relations whose primary key PostgreSQL groups by; a view's it does not know."""

GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
"""Elements of GROUP BY that make more than one set of groups."""


def group_by_shown(statement: Statement, _context: Context) -> str | None:
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
    return f"groups by {', '.join(added)} as well" if added else None


def aggregate_in_having(statement: Statement, _context: Context) -> str | None:
    """Tests groups (HAVING) where WHERE tests an aggregate; those of the shown columns, where it makes none."""
    moved: list[str] = []
    for select in statement.tree.find_all(exp.Select):
        tests = tests_of(select)
        aggregated = [test for test in tests if own_aggregates(test, select)]
        shown = [each.copy() for each in _columns(select.expressions)] if aggregated else []
        group = select.args.get("group") or exp.Group(expressions=shown)
        if not aggregated or not group.expressions:
            continue
        keep_tests(select, without_tests(tests, aggregated))
        select.set("group", group)
        having = select.args.get("having")
        there = [] if having is None else list(conjuncts(having.this))
        select.set("having", exp.Having(this=exp.and_(*there, *aggregated, copy=False)))
        moved += [each.sql(dialect="postgres") for each in aggregated]
    return f"tests groups by {', '.join(moved)}" if moved else None


def own_aggregates(node: exp.Expr, select: exp.Select) -> list[exp.AggFunc]:
    """Those within `node` of the rows of `select`, which is around it, but window functions."""
    found = (each for each in node.find_all(exp.AggFunc) if each.parent_select is select)
    return [each for each in found if not isinstance(each.parent, exp.Window)]


def _columns(items: Iterable[exp.Expr]) -> list[exp.Column]:
    """Those of what is shown or sorted by that are a column."""
    shown = (each.unalias() for each in items)
    return [each for each in shown if isinstance(each, exp.Column) and not isinstance(each.this, exp.Star)]


def _ungrouped(select: exp.Select, group: exp.Group, scopes: Scopes) -> exp.Column | None:
    """The first column shown or sorted by that is not functionally dependent on what is grouped by."""
    order = select.args.get("order")
    sorted_by = [each.this for each in (order.expressions if order is not None else [])]
    aliases = {each.alias for each in select.expressions if isinstance(each, exp.Alias)}
    for column in _columns([*select.expressions, *sorted_by]):
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
