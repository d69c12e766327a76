"""Rules about groups: columns that are shown and not grouped by, and groups of one row that are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from engine.rewrite.join_tree import JoinTree, conjuncts, join_tree, keep_tests, tests_of, without_tests
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes, TableRef, equality, from_parts, identifier, written
from engine.routing.question_templates import ColumnKind, kind_of
from engine.sql.tree import unwrapped
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import TableKind

_KEYED = (TableKind.TABLE, TableKind.PARTITIONED)
"""Relations whose primary key PostgreSQL groups by; a view's it does not know."""

_GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def group_by_shown(statement: Statement, _context: Context) -> str | None:
    """Groups by each column that is shown or sorted by, unless its table's key is grouped by (docs 7.2.3)."""
    added: list[str] = []
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group") or exp.Group()
        if group.find(*_GROUPING_SETS) is not None:
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
        aggregated = [test for test in tests if _own_aggregates(test, select)]
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


def _own_aggregates(node: exp.Expr, select: exp.Select) -> list[exp.AggFunc]:
    found = (each for each in node.find_all(exp.AggFunc) if each.parent_select is select)
    return [each for each in found if not isinstance(each.parent, exp.Window)]


def _columns(items: Iterable[exp.Expr]) -> list[exp.Column]:
    """Those of what is shown or sorted by that are a column."""
    shown = (each.unalias() for each in items)
    return [each for each in shown if isinstance(each, exp.Column) and not isinstance(each.this, exp.Star)]


_MEASURES = (exp.Count, exp.Sum, exp.Avg)
_EXTREMES = (exp.Max, exp.Min)


def show_groups(statement: Statement, _context: Context) -> str | None:
    """Shows what a statement groups by where it shows nothing but a number for each group: numbers of what?"""
    select = statement.tree
    if not isinstance(select, exp.Select) or not hides_groups(statement):
        return None
    shown = [each.copy() for each in select.args["group"].expressions]
    select.set("expressions", [*shown, *select.expressions])
    return f"shows {', '.join(each.sql(dialect='postgres') for each in shown)}"


def sum_counted(statement: Statement, _context: Context) -> str | None:
    """Adds up what is counted where it is no row and no key, but a number itself: the people of a country."""
    changed = []
    for count, name in counted_measures(statement):
        count.replace(exp.Sum(this=count.this))
        changed.append(name)
    return f"adds up {', '.join(changed)} instead of counting" if changed else None


def order_by_total(statement: Statement, context: Context) -> str | None:
    """Puts groups in the order of their sums where their rows are: who sold most in all, not who made the largest sale.

    What is shown is of a table to one row of which several of the ordered ones belong, or tells rows apart by groups: a
    reference, or a column of few values.
    """
    select, scopes = statement.tree, statement.scopes
    found = join_tree(select, scopes)
    order = select.args.get("order")
    if found is None or order is None or len(order.expressions) > 1 or not select.args.get("limit"):
        return None
    first = order.expressions[0]
    if select.args.get("distinct") or not first.args.get("desc") or not is_measure(first.this, scopes):
        return None
    keys = _groups_of(found, first.this, context)
    if not keys:
        return None
    found.tree.set("group", exp.Group(expressions=keys))
    first.set("this", exp.Sum(this=first.this))
    first.set("nulls_first", False)  # noqa: FBT003 - sqlglot's
    return f"orders by the sums of {first.this.this.name}"


def _groups_of(found: JoinTree, ordered: exp.Column, context: Context) -> list[exp.Expr]:
    """What the rows of `ordered` are to be grouped by; nothing where what is shown makes no groups of them."""
    columns = _columns(found.tree.expressions)
    if len(columns) < len(found.tree.expressions):
        return []
    branch = found.branch(ordered, found.names(columns))
    if branch is None:
        grouping = all(_makes_groups(column, found.scopes, context) for column in columns)
        return [column.copy() for column in columns] if grouping else []
    one = found.scopes.reading(branch.link.near)
    if not branch.many or one is None or one.table is None:
        return []
    names = {column.name for column in columns if found.scopes.reading(column) == one}
    keys = [exp.column(identifier(name), identifier(one.name)) for name in one.table.primary_key]
    return [*(key for key in keys if key.name not in names), *(column.copy() for column in columns)]


def _makes_groups(column: exp.Column, scopes: Scopes, context: Context) -> bool:
    """Whether rows share its values: it refers to another table, or has few of them."""
    read = scopes.reading(column)
    if read is None or read.table is None:
        return False
    key = (*read.table.key, column.name)
    few = any(each.column == key for each in context.lists)
    return (few or bool(context.references.referred(key))) and read.table.primary_key != (column.name,)


def counted_measures(statement: Statement) -> list[tuple[exp.Count, str]]:
    """Each COUNT that is shown of a column of numbers which is no key, with the column's name; not of DISTINCT ones."""
    select = statement.tree
    items = select.expressions if isinstance(select, exp.Select) else []
    counts = (count for item in items for count in item.find_all(exp.Count) if count.parent_select is select)
    return [(count, count.this.name) for count in counts if is_measure(count.this, statement.scopes)]


def is_measure(counted: object, scopes: Scopes) -> bool:
    """Whether it is a column of numbers of a table, and no key."""
    read = scopes.reading(counted) if isinstance(counted, exp.Column) else None
    if read is None or read.table is None or not isinstance(counted, exp.Column):
        return False
    column = next((each for each in read.table.columns if each.name == counted.name), None)
    referred = foreign_key_graph(scopes.snapshot).counterparts((*read.table.key, counted.name))
    is_key = counted.name in read.table.primary_key or bool(referred)
    return column is not None and not is_key and kind_of(column) is ColumnKind.NUMBER


def hides_groups(statement: Statement) -> bool:
    """Whether a statement shows nothing but a number for each group, without HAVING and LIMIT."""
    tree = statement.tree
    group = tree.args.get("group")
    if not isinstance(tree, exp.Select) or group is None or not group.expressions:
        return False
    if group.find(*_GROUPING_SETS, exp.Literal) or tree.args.get("limit") or tree.args.get("having"):
        return False
    return all(_is_number(each, statement.scopes) for each in tree.expressions)


def _is_number(item: exp.Expr, scopes: Scopes) -> bool:
    """Whether an item is a count, sum or average, an extreme of a column of numbers, or made of such by arithmetic."""
    item = unwrapped(item)
    if isinstance(item, exp.Binary):
        sides = (item.left, item.right)
        return any(_is_number(each, scopes) for each in sides) and all(
            isinstance(each, exp.Literal) or _is_number(each, scopes) for each in sides
        )
    return isinstance(item, _MEASURES) or (isinstance(item, _EXTREMES) and is_measure(item.this, scopes))


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


def count_referring_rows(statement: Statement, context: Context) -> str | None:
    """Where each group that is counted is one row: joins the table that refers to it and is nearest to the question."""
    scopes = statement.scopes
    single = [each for each in statement.tree.find_all(exp.Select) if single_row_groups(each, scopes)]
    joined = [name for each in single if (name := _join(each, scopes, context)) is not None]
    return f"counts rows of {', '.join(joined)}" if joined else None


def single_row_groups(select: exp.Select, scopes: Scopes) -> list[str]:
    """The tables of which each group that COUNT counts is one row; none where groups may have more."""
    group = select.args.get("group")
    reads = scopes.reads[id(select)]
    if group is None or any(read.table is None for read in reads) or not _counts(select):
        return []
    given = {place for each in group.expressions if (place := scopes.place(each)) is not None}
    equal = list(_equalities(select, scopes))
    single: set[str] = set()
    while new := [read for read in reads if read.name not in single and _keyed(read, given)]:
        for read in new:
            single.add(read.name)
            given |= {(read.name, column.name) for column in read.table.columns} if read.table else set()
        given |= {end for pair in equal for end in pair if pair[0] in given or pair[1] in given}
    if any(read.name not in single for read in reads):
        return []
    return list(dict.fromkeys(read.table.name for read in reads if read.table is not None))


def largest_group(tree: exp.Query) -> exp.Select | None:
    """A statement for how many rows the largest group counts; None where not the groups that count most are shown."""
    order, group = tree.args.get("order"), tree.args.get("group")
    if not isinstance(tree, exp.Select) or group is None or order is None or not tree.args.get("limit"):
        return None
    named = {each.alias: each.this for each in tree.expressions if isinstance(each, exp.Alias)}
    first = order.expressions[0]
    counted = named.get(first.this.name, first.this) if isinstance(first.this, exp.Column) else first.this
    if not first.args.get("desc") or not isinstance(counted, exp.Count):
        return None
    found = tree.copy()
    for part in ("distinct", "offset"):
        found.set(part, None)
    found.set("expressions", [counted.copy()])
    found.set("order", exp.Order(expressions=[exp.Ordered(this=counted.copy(), desc=True)]))
    found.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    return found


def _keyed(read: TableRef, given: set[tuple[str, str]]) -> bool:
    key = read.table.primary_key if read.table is not None else ()
    return bool(key) and all((read.name, column) in given for column in key)


def _counts(select: exp.Select) -> bool:
    return any(isinstance(each, exp.Count) for each in _own_aggregates(select, select))


def _equalities(select: exp.Select, scopes: Scopes) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (name, column) that inner joins set equal."""
    for join in from_parts(select)[1:]:
        condition = join.args.get("on")
        if join.args.get("side") or condition is None:
            continue
        for equal in condition.find_all(exp.EQ):
            ends = (equal.left, equal.right)
            found = [place for end in ends if (place := scopes.place(end)) is not None]
            if len(found) == 2:  # noqa: PLR2004  both sides
                yield found[0], found[1]


def _join(select: exp.Select, scopes: Scopes, context: Context) -> str | None:
    reads = scopes.reads[id(select)]
    there = {read.table.key for read in reads if read.table is not None}
    ways = [
        (edge, read)
        for read in reads
        if read.table is not None
        for edge in context.references.referrers(read.table.key)
        if edge.other not in there and edge.other in scopes.tables and len(edge.columns) == 1
    ]
    if not ways:
        return None
    edge, read = max(ways, key=lambda way: context.similarity.get(way[0].other, -1.0))
    scopes.qualify(select)
    table = scopes.tables[edge.other]
    condition = equality(read.name, edge.columns, table.name, edge.other_columns)
    select.join(written(table, scopes.snapshot), on=condition, copy=False)
    return table.name
