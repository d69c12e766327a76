"""What a statement got wrong that the catalog knows for certain, put right by rule instead of by asking again.

Owns, in this order: a qualifier that belongs to another table of FROM, a JOIN or a subquery that does not follow the
references although they connect its tables, a literal that the database spells in other letters' case, numbers that a
column keeps as text, a column that is shown for each group and not grouped by, where NULL goes when the greatest comes
first, and a table that is named but not read (`engine.rewrite.rules.joins`). It changes nothing that can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from engine.core.elements import ValueLink
from engine.rewrite.rules.joins import complete_joins, connected, reachable
from engine.rewrite.rules.literals import as_stored
from engine.rewrite.scope import Scopes, TableRef, from_parts, identifier, parsed
from schema_catalog.types import Snapshot, Table, TableKind

_KEYED = (TableKind.TABLE, TableKind.PARTITIONED)
"""What has keys in PostgreSQL: a view has none to go by, whatever else says that it has."""

_GROUPING_SETS = ("rollup", "cube", "grouping_sets")


def mended(sql: str, snapshot: Snapshot, values: Sequence[ValueLink] = ()) -> str:
    """`sql` put right; unchanged where there is nothing to do or it cannot be parsed."""
    tree = parsed(sql)
    if tree is None:
        return sql
    scopes = Scopes(tree, snapshot)
    changed = _requalified(tree, scopes)
    changed |= _rejoined(tree, scopes)
    changed |= _relinked(tree, scopes)
    changed |= as_stored(tree, values, scopes)
    changed |= _as_numbers(tree, scopes)
    changed |= _grouped(tree, scopes)
    changed |= _nulls_last(tree)
    return complete_joins(tree.sql(dialect="postgres") if changed else sql, snapshot)


def _requalified(tree: exp.Query, scopes: Scopes) -> bool:
    """`T1.title` where T1 has no title and one other table has, of FROM or else of the schema; not in ON."""
    changed = False
    for column in tree.find_all(exp.Column):
        if column.find_ancestor(exp.Join, exp.Select) is not column.parent_select:
            continue
        owner = _owner(column, scopes) if column.table else _elsewhere(column, scopes)
        if owner is not None and not column.table:
            scopes.qualify(column.parent_select)
        if owner is not None:
            column.set("table", identifier(owner))
            changed = True
    return changed


def _elsewhere(column: exp.Column, scopes: Scopes) -> str | None:
    """The one table of the schema that has a bare column which nothing that is read has."""
    select = column.parent_select
    if select is None or isinstance(column.this, exp.Star) or scopes.reading(column) is not None:
        return None
    level: exp.Select | None = select
    while level is not None:
        reads = scopes.reads[id(level)]
        if any(read.table is None for read in reads) or column.name in {
            each.alias for each in level.expressions
        }:
            return None
        level = level.parent_select
    found = [table.name for table in scopes.snapshot.tables if _holds(table, column.name)]
    return found[0] if len(found) == 1 else None


def _owner(column: exp.Column, scopes: Scopes) -> str | None:
    """What should qualify `column` instead; None where it is right or nothing else is certain."""
    reads = scopes.reads.get(id(column.parent_select), [])
    named = scopes.reading(column)
    if any(read.table is None for read in reads) or (named is not None and named.table is None):
        return None
    if named is not None and named.table is not None and _holds(named.table, column.name):
        return None
    if named is None and any(_holds(table, column.name) for table in scopes.called.get(column.table, ())):
        return None
    there = [read.table for read in reads if read.table is not None]
    inside = [read.name for read in reads if read.table is not None and _holds(read.table, column.name)]
    beside = [
        table.name
        for table in scopes.snapshot.tables
        if _holds(table, column.name) and any(connected(one, table, scopes.snapshot) for one in there)
    ]
    found = inside or beside
    return found[0] if len(found) == 1 else None


def _holds(table: Table, name: str) -> bool:
    return any(column.name == name for column in table.columns)


def _rejoined(tree: exp.Query, scopes: Scopes) -> bool:
    """An inner JOIN on columns that refer to nothing goes along the references instead, over other tables too."""
    changed = False
    for select in tree.find_all(exp.Select):
        reads = scopes.reads[id(select)]
        if any(read.table is None for read in reads):
            continue
        for place, join in list(enumerate(from_parts(select)))[1:]:
            changed |= _follows(select, join, reads[:place], reads[place], scopes)
    return changed


def _follows(
    select: exp.Select, join: exp.Expression, before: list[TableRef], joined: TableRef, scopes: Scopes
) -> bool:
    pair = _compared(join, before, joined)
    if pair is None or joined.table is None:
        return False
    other, left, right = pair
    if other.table is None or other.table.key == joined.table.key:
        return False
    edges = connected(other.table, joined.table, scopes.snapshot)
    if (left, right) in edges:
        return False
    if len(edges) == 1:
        (new_left, new_right) = edges[0]
        join.set("on", _equals(other.name, new_left, joined.name, new_right))
        return True
    if edges or not reachable([read.table for read in before if read.table], joined.table, scopes.snapshot):
        return False
    return _rerouted(select, join, joined, scopes)


def _rerouted(select: exp.Select, join: exp.Expression, joined: TableRef, scopes: Scopes) -> bool:
    """Takes the join out. Where its table is needed it is named by its own name, so that the way there is looked up."""
    inside = {id(column) for column in join.find_all(exp.Column)}
    users = [c for c in select.find_all(exp.Column) if c.table == joined.name and id(c) not in inside]
    names = {read.name for read in scopes.reads[id(select)] if read is not joined}
    if joined.table is None or joined.table.name in names:
        return False
    for column in users:
        column.set("table", identifier(joined.table.name))
    join.pop()
    return True


def _compared(
    join: exp.Expression, before: list[TableRef], joined: TableRef
) -> tuple[TableRef, str, str] | None:
    """(the table before, its column, the joined table's column) of an inner JOIN on one equality of columns."""
    condition = join.args.get("on")
    if join.args.get("side") or not isinstance(condition, exp.EQ):
        return None
    one, two = condition.left, condition.right
    if not (isinstance(one, exp.Column) and isinstance(two, exp.Column)):
        return None
    if one.table == joined.name:
        one, two = two, one
    found = [read for read in before if read.name == one.table]
    return (found[0], one.name, two.name) if found and two.table == joined.name else None


def _equals(table: str, column: str, other: str, other_column: str) -> exp.EQ:
    return exp.EQ(
        this=exp.Column(this=identifier(column), table=identifier(table)),
        expression=exp.Column(this=identifier(other_column), table=identifier(other)),
    )


def _relinked(tree: exp.Query, scopes: Scopes) -> bool:
    """`owner_id IN (SELECT dog_id FROM dogs)`: of connected tables a key is compared with what refers to it."""
    changed = False
    for comparison in tree.find_all(exp.In, exp.EQ, exp.NEQ):
        found = scopes.drawn(comparison)
        if found is None or found.one.key == found.other.key:
            continue
        edges = connected(found.one, found.other, scopes.snapshot)
        ways = [there for here, there in edges if here == found.outside.name]
        if len(ways) == 1 and found.inside.name != ways[0] and _is_key(found.other, found.inside.name):
            found.inside.set("this", identifier(ways[0]))
            changed = True
    return changed


def unknown_apart(sql: str, snapshot: Snapshot) -> str:
    """`sql` with NULL left out of what NOT IN compares with: one alone, and no row is left (docs 9.24.2)."""
    tree = parsed(sql)
    if tree is None:
        return sql
    scopes = Scopes(tree, snapshot)
    changed = False
    for found in scopes.left_out(tree):
        if found.query.args.get("having") or not _nullable(found.other, found.inside.name):
            continue
        known = exp.Not(this=exp.Is(this=found.inside.copy(), expression=exp.Null()))
        if not any(known == each for each in found.query.find_all(exp.Not)):
            found.query.where(known, copy=False)
            changed = True
    return tree.sql(dialect="postgres") if changed else sql


def _nullable(table: Table, name: str) -> bool:
    return name not in table.primary_key and any(c.name == name and c.nullable for c in table.columns)


def _is_key(table: Table, name: str) -> bool:
    return name in table.primary_key or any(name in key.columns for key in table.foreign_keys)


def _as_numbers(tree: exp.Query, scopes: Scopes) -> bool:
    """What is summed, averaged or compared with a number is the number that a text begins with, NULL without one."""
    changed = False
    for node in tree.find_all(exp.Sum, exp.Avg, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ):
        column = node.this
        if not isinstance(column, exp.Column) or not _text(column, scopes):
            continue
        if isinstance(node, exp.Sum | exp.Avg) or _number(node.expression):
            start = f"substring({column.sql(dialect='postgres')} FROM '^[-+]?[0-9]+[.]?[0-9]*')"
            column.replace(sqlglot.parse_one(f"CAST({start} AS numeric)", dialect="postgres"))
            changed = True
    return changed


def _text(column: exp.Column, scopes: Scopes) -> bool:
    read = scopes.reading(column)
    types = {each.name: each.type for each in read.table.columns} if read is not None and read.table else {}
    return re.match(r"text|character", types.get(column.name, "")) is not None


def _number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _grouped(tree: exp.Query, scopes: Scopes) -> bool:
    """Groups by what is shown or sorted by as well, unless its table's key says it already (docs 7.2.3)."""
    changed = False
    for select in tree.find_all(exp.Select):
        group = select.args.get("group") or exp.Group()
        if any(group.args.get(each) for each in _GROUPING_SETS):
            continue
        if not group.expressions and not _aggregated(select):
            continue
        order = select.args.get("order")
        shown = [each.unalias() for each in select.expressions]
        shown += [each.this for each in (order.expressions if order is not None else [])]
        names = {each.alias for each in select.expressions if isinstance(each, exp.Alias)}
        for column in shown:
            if not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
                continue
            if (not column.table and column.name in names) or _settled(column, group.expressions, scopes):
                continue
            group.append("expressions", column.copy())
            select.set("group", group)
            changed = True
    return changed


def _aggregated(select: exp.Select) -> bool:
    """Whether rows are sorted by what counts, sums or the like over several, and nothing else does: each is a group."""
    order = select.args.get("order")
    over = [
        found
        for part in (*select.expressions, *([order] if order else []))
        for found in part.find_all(exp.AggFunc)
        if found.find_ancestor(exp.Window, exp.Select) is select
    ]
    return bool(over) and all(found.find_ancestor(exp.Order, exp.Select) is order for found in over)


def _settled(column: exp.Column, grouped: Sequence[exp.Expression], scopes: Scopes) -> bool:
    """Whether the column is the same within a group, as PostgreSQL sees it, or nobody knows what it is."""
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


def _nulls_last(tree: exp.Query) -> bool:
    """PostgreSQL puts NULL first where the greatest comes first (docs 7.5); nobody asks for the unknown ones."""
    changed = False
    for order in tree.find_all(exp.Ordered):
        if order.args.get("desc") and order.args.get("nulls_first") and not isinstance(order.this, exp.Count):
            order.set("nulls_first", False)  # noqa: FBT003 - sqlglot's
            changed = True
    return changed
