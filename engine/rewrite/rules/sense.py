"""What no one asks: statements whose outcome is known whatever the tables hold.

Owns two faults of small models that run without an error: counting within groups of which each is one row, and taking
from a table's rows all that the same table has. Where something refers to the table they are put right by rule; the
reason that is given otherwise is for the model that writes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from engine.rewrite.scope import Scopes, SubqueryComparison, TableRef, from_parts, identifier, parsed
from schema_catalog.types import Snapshot, Table, TableKey

_FILTERS = ("where", "group", "having", "joins", "limit", "offset")


def senseless(sql: str, snapshot: Snapshot) -> str | None:
    """Why `sql` cannot be meant; None where it can, or cannot be parsed."""
    tree = parsed(sql)
    if tree is None:
        return None
    scopes = Scopes(tree, snapshot)
    for select in tree.find_all(exp.Select):
        reason = _lone_rows_counted(select, scopes) or _all_excluded(select, scopes)
        if reason is not None:
            return reason
    return None


def _lone_rows_counted(select: exp.Select, scopes: Scopes) -> str | None:
    """COUNT over groups that hold a key of all that is read."""
    group = select.args.get("group")
    reads = scopes.reads[id(select)]
    if group is None or any(read.table is None for read in reads) or not _counts(select):
        return None
    given = {
        (read.name, column.name)
        for column in group.expressions
        if isinstance(column, exp.Column) and (read := scopes.reading(column)) is not None
    }
    equal = list(_equalities(select, scopes))
    settled: set[str] = set()
    while new := [read for read in reads if read.name not in settled and _keyed(read, given)]:
        for read in new:
            settled.add(read.name)
            given |= {(read.name, column.name) for column in read.table.columns} if read.table else set()
        given |= {end for pair in equal for end in pair if pair[0] in given or pair[1] in given}
    if any(read.name not in settled for read in reads):
        return None
    names = " and ".join(dict.fromkeys(read.table.name for read in reads if read.table is not None))
    return f"each group is one row of {names}, so that counting gives 1: join the table whose rows are to be counted"


def _referring(table: Table, scopes: Scopes, to: str | None = None) -> Iterator[tuple[Table, str, str]]:
    """(table, its column, the other's) of what refers to `table`, to its column `to` where that is given."""
    for other in scopes.snapshot.tables:
        for key in other.foreign_keys:
            single = (key.ref_schema, key.ref_table) == table.key and len(key.columns) == 1
            if single and to in (None, key.ref_columns[0]):
                yield other, key.columns[0], key.ref_columns[0]


def _keyed(read: TableRef, given: set[tuple[str, str]]) -> bool:
    key = read.table.primary_key if read.table is not None else ()
    return bool(key) and all((read.name, column) in given for column in key)


def _counts(select: exp.Select) -> bool:
    return any(
        count.parent_select is select and not isinstance(count.parent, exp.Window)
        for count in select.find_all(exp.Count)
    )


def _equalities(select: exp.Select, scopes: Scopes) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """What inner joins set equal: (name, column) pairs."""
    for join in from_parts(select)[1:]:
        condition = join.args.get("on")
        if join.args.get("side") or condition is None:
            continue
        for equal in condition.find_all(exp.EQ):
            ends = [each for each in (equal.left, equal.right) if isinstance(each, exp.Column)]
            found = [(read.name, end.name) for end in ends if (read := scopes.reading(end)) is not None]
            if len(found) == 2:  # noqa: PLR2004  both sides
                yield found[0], found[1]


def _all_excluded(select: exp.Select, scopes: Scopes) -> str | None:
    """`a NOT IN (SELECT a FROM t)` over t itself."""
    for found in _excluding(select, scopes):
        return (
            f"no row is left: {found.one.name}.{found.outside.name} is always among all of {found.one.name}"
        )
    return None


def _excluding(select: exp.Select, scopes: Scopes) -> Iterator[SubqueryComparison]:
    where = select.args.get("where")
    for found in [] if where is None else scopes.left_out(where):
        if any(found.query.args.get(each) for each in _FILTERS):
            continue
        if found.one.key == found.other.key and found.outside.name == found.inside.name:
            yield found


def with_what_refers(sql: str, snapshot: Snapshot, near: Callable[[TableKey], float]) -> str:
    """`sql` with the rows that refer to a table counted, or excluded, in place of the table's own.

    Of several references that of the nearest table; unchanged where there is nothing to do.
    """
    tree = parsed(sql)
    if tree is None:
        return sql
    scopes = Scopes(tree, snapshot)
    changed = False
    for select in list(tree.find_all(exp.Select)):
        for found in list(_excluding(select, scopes)):
            ways = list(_referring(found.one, scopes, found.outside.name))
            if ways:
                table, column, _ = max(ways, key=lambda way: near(way[0].key))
                query = exp.select(exp.column(identifier(column))).from_(_written(table, snapshot))
                found.query.replace(query)
                changed = True
        if _lone_rows_counted(select, scopes) is not None:
            changed |= _counting(select, scopes, near)
    return tree.sql(dialect="postgres") if changed else sql


def _counting(select: exp.Select, scopes: Scopes, near: Callable[[TableKey], float]) -> bool:
    """Joins the nearest table that refers to one that is read."""
    reads = scopes.reads[id(select)]
    there = {read.table.key for read in reads if read.table is not None}
    ways = [
        (table, column, read, to)
        for read in reads
        if read.table is not None
        for table, column, to in _referring(read.table, scopes)
        if table.key not in there
    ]
    if not ways:
        return False
    table, column, read, to = max(ways, key=lambda way: near(way[0].key))
    scopes.qualify(select)
    ends = (
        exp.column(identifier(to), identifier(read.name)),
        exp.column(identifier(column), identifier(table.name)),
    )
    select.join(_written(table, scopes.snapshot), on=exp.EQ(this=ends[0], expression=ends[1]), copy=False)
    return True


def _written(table: Table, snapshot: Snapshot) -> exp.Table:
    return exp.to_table(snapshot.display_name(table), dialect="postgres")
