"""A statement with one element of the schema exchanged for another and FROM adjusted, all else unchanged.

Which elements are exchanged is `engine.alternatives.synonyms`'s.
"""

from __future__ import annotations

from sqlglot import exp

from engine.alternatives.synonyms import Exchange
from engine.core.elements import WHOLE_TABLE
from engine.rewrite.rule import Context, Statement
from engine.rewrite.rules.references import join_missing_tables
from engine.rewrite.scope import Scopes, from_parts, identifier, written
from engine.sql.tree import parsed
from schema_catalog.types import Snapshot, TableKey


def substituted(sql: str, exchange: Exchange, snapshot: Snapshot) -> str | None:
    """`sql` with `exchange.other` for `exchange.used`; None where the exchange alone is not possible."""
    tree = parsed(sql)
    if tree is None:
        return None
    tree = tree.copy()
    scopes = Scopes(tree, snapshot)
    if exchange.used[2] == WHOLE_TABLE:
        return _with_table(tree, exchange, scopes)
    if exchange.used[:2] == exchange.other[:2]:
        return _with_column(tree, exchange, scopes)
    return _with_column_elsewhere(tree, exchange, scopes)


def _with_column(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> str | None:
    found = scopes.columns(tree, exchange.used[:2], exchange.used[2])
    for column in found:
        column.set("this", identifier(exchange.other[2]))
    if not found or not _items_distinct(tree):
        return None
    return tree.sql(dialect="postgres")


def _items_distinct(tree: exp.Query) -> bool:
    """Drops items that a SELECT now has twice; False where another query depends on their number."""
    for select in tree.find_all(exp.Select):
        items = {each.unalias().sql(): each for each in reversed(select.expressions)}
        if len(items) < len(select.expressions):
            if isinstance(select.parent, exp.SetOperation | exp.In | exp.Subquery):
                return False
            select.set(
                "expressions", [each for each in select.expressions if items[each.unalias().sql()] is each]
            )
    return True


def _with_table(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> str | None:
    other = scopes.tables[exchange.other[:2]]
    columns = [column for column in scopes.columns(tree, exchange.used[:2]) if column.table]
    named = [column for column in columns if (read := scopes.reading(column)) and not read.node.alias]
    reads = [
        read
        for each in scopes.reads.values()
        for read in each
        if read.table is not None and read.table.key == exchange.used[:2]
    ]
    for each in scopes.reads.values():
        keys = [read.table.key for read in each if read.table is not None]
        if exchange.used[:2] in keys and exchange.other[:2] in keys:
            return None
    for column in named:
        column.set("table", identifier(other.name))
    for read in reads:
        name = written(other, scopes.snapshot)
        read.node.set("this", name.this)
        read.node.set("db", name.args.get("db"))
    return tree.sql(dialect="postgres") if reads else None


def _with_column_elsewhere(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> str | None:
    """Qualifies every name first: the table that is joined may have columns of the same names."""
    found = scopes.columns(tree, exchange.used[:2], exchange.used[2])
    if not found:
        return None
    touched = {id(column.parent_select) for column in found}
    for column in list(tree.find_all(exp.Column)):
        if not column.table and (read := scopes.reading(column)) is not None:
            column.set("table", identifier(read.name))
    other = scopes.tables[exchange.other[:2]]
    for column in found:
        there = [read for read in scopes.reads[id(column.parent_select)] if read.table is other]
        if not there and len(scopes.called[other.name]) > 1:
            return None
        name = there[0].name if there else other.name
        column.set("this", identifier(exchange.other[2]))
        column.set("table", identifier(name))
    statement = Statement(tree, scopes.snapshot)
    join_missing_tables(statement, Context(scopes.snapshot))
    statement.bind()
    if len(touched) == 1:
        for select in tree.find_all(exp.Select):
            _without_unread(select, exchange.used[:2], statement.scopes)
    return statement.sql


def _without_unread(select: exp.Select, table: TableKey, scopes: Scopes) -> None:
    """Drops `table` from a SELECT that names it in one join's condition alone."""
    parts = from_parts(select)
    reads = scopes.reads[id(select)]
    place = next(
        (n for n, read in enumerate(reads) if read.table is not None and read.table.key == table), None
    )
    if place is None or len(parts) < 2 or len(reads) != len(parts):  # noqa: PLR2004 - it and another
        return
    name = reads[place].name
    users = [column for column in select.find_all(exp.Column) if column.table == name]
    joins = [part for part in parts[1:] if any(column.table == name for column in part.find_all(exp.Column))]
    inside = [column for join in joins for column in join.find_all(exp.Column) if column.table == name]
    star = any(isinstance(item, exp.Star) for item in select.expressions)
    if star or len(joins) != 1 or len(inside) != len(users) or joins[0].args.get("side"):
        return
    if place == 0 and joins[0] is parts[1]:
        parts[0].set("this", joins[0].this)
        joins[0].pop()
    elif joins[0] is parts[place]:
        joins[0].pop()
