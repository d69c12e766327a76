"""Rules about foreign keys: tables that are named and not read, joins and subqueries that miss the reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from sqlglot import exp

from engine.decoding.sql_grammar import aliases
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import Scopes, TableRef, equality, from_parts, identifier, written
from engine.text.tokens import identifier_words
from schema_catalog.foreign_keys import Edge
from schema_catalog.types import Table, TableKey


def requalify(statement: Statement, context: Context) -> str | None:
    """Gives columns to the one table that has them, where what qualifies them has not; conditions of JOIN apart."""
    moved = []
    for column in statement.tree.find_all(exp.Column):
        if column.find_ancestor(exp.Join, exp.Select) is not column.parent_select:
            continue
        if column.table:
            owner = _holder(column, statement.scopes, context)
        elif (owner := _only_holder(column, statement.scopes)) is not None:
            statement.scopes.qualify(column.parent_select)
        if owner is not None:
            column.set("table", identifier(owner))
            moved.append(column.name)
    return f"takes {', '.join(moved)} from the table that has it" if moved else None


def _only_holder(column: exp.Column, scopes: Scopes) -> str | None:
    """The one table of the schema with a column of the name of a bare one that nothing in FROM has."""
    select = column.parent_select
    if select is None or isinstance(column.this, exp.Star) or scopes.reading(column) is not None:
        return None
    level: exp.Select | None = select
    while level is not None:
        outputs = {each.alias for each in level.expressions}
        if column.name in outputs or any(read.table is None for read in scopes.reads[id(level)]):
            return None
        level = level.parent_select
    found = [table.name for table in scopes.snapshot.tables if _has(table, column.name)]
    return found[0] if len(found) == 1 else None


def _holder(column: exp.Column, scopes: Scopes, context: Context) -> str | None:
    """What should qualify a qualified column; None where it is right or more than one table could."""
    reads = scopes.reads.get(id(column.parent_select), [])
    named = scopes.reading(column)
    if any(read.table is None for read in reads) or (named is not None and named.table is None):
        return None
    if named is not None and named.table is not None and _means_one_of(named.table, column.name):
        return None
    if named is None and any(_has(table, column.name) for table in scopes.called.get(column.table, ())):
        return None
    inside = [read.name for read in reads if read.table is not None and _has(read.table, column.name)]
    there = [read.table.key for read in reads if read.table is not None]
    beside = [
        table.name
        for table in scopes.snapshot.tables
        if _has(table, column.name) and any(context.references.column_pairs(one, table.key) for one in there)
    ]
    found = inside or beside
    return found[0] if len(found) == 1 else None


def _means_one_of(table: Table, name: str) -> bool:
    """Whether the table has the column, or one whose name says that and more: who says `name` may mean `name_first`."""
    words = set(identifier_words(name))
    return any(column.name == name or words < set(identifier_words(column.name)) for column in table.columns)


def _has(table: Table, name: str) -> bool:
    return any(column.name == name for column in table.columns)


def join_missing_tables(statement: Statement, context: Context) -> str | None:
    """Joins each table that columns are qualified by and FROM does not hold, along the shortest chain of references.

    A table that no chain reaches stays missing: the check of names will say so. An alias that FROM does not give stands
    for the table that it may be short for and that has its columns.
    """
    joined: list[str] = []
    queries = {query.alias for query in statement.tree.find_all(exp.CTE)}
    for select in list(statement.tree.find_all(exp.Select)):
        reads = statement.scopes.reads[id(select)]
        sources = {read.table.key: read.name for read in reads if read.table is not None}
        for qualifier, table in _missing(select, statement.scopes):
            path = () if table.key in sources else context.references.path(sources, table.key)
            # Names that stand for another table or a query already cannot be given again without an alias.
            if not {edge.other[1] for edge in path} & {*sources.values(), *queries}:
                joined += _join(select, path, sources, statement.scopes)
                if qualifier != table.name and table.key in sources:
                    _renamed(select, qualifier, sources[table.key])
    return f"joins {', '.join(joined)}" if joined else None


def _renamed(select: exp.Select, before: str, after: str) -> None:
    for column in select.find_all(exp.Column):
        if column.parent_select is select and column.table == before:
            column.set("table", identifier(after))


def _missing(select: exp.Select, scopes: Scopes) -> list[tuple[str, Table]]:
    """Qualifiers that FROM does not hold, and the tables that they mean."""
    used: dict[tuple[str, str], set[str]] = {}
    for column in select.find_all(exp.Column):
        if column.table and column.parent_select is select and not scopes.visible(column):
            used.setdefault((column.db, column.table), set()).add(column.name)
    found = ((name, _meant(schema, name, columns, scopes)) for (schema, name), columns in used.items())
    return [(name, table) for name, table in found if table is not None]


def _meant(schema: str, name: str, columns: Collection[str], scopes: Scopes) -> Table | None:
    """The table that a qualifier means: of several of the name the one with all the columns, or the search path's.

    Where there is none of the name: the one table with the columns that it may be an alias of.
    """
    tables = [each for each in scopes.called.get(name, ()) if schema in ("", each.schema)]
    if not tables and not schema:
        tables = _holders(_abbreviated(name, scopes), columns)
    holders = _holders(tables, columns)
    if len(holders or tables) == 1:
        return (holders or tables)[0]
    bare = scopes.bare(name)
    return bare if bare in holders else None


def _abbreviated(name: str, scopes: Scopes) -> list[Table]:
    return [each for each in scopes.snapshot.tables if name in aliases(each, scopes.called)]


def _holders(tables: Iterable[Table], columns: Collection[str]) -> list[Table]:
    return [each for each in tables if {"*", *(c.name for c in each.columns)}.issuperset(columns)]


def _join(
    select: exp.Select, path: Iterable[Edge], sources: dict[TableKey, str], scopes: Scopes
) -> list[str]:
    """The names of the tables joined along `path`. `sources`: table → its name in FROM; it grows."""
    names = []
    for edge in path:
        table = scopes.tables[edge.other]
        condition = equality(sources[edge.table], edge.columns, table.name, edge.other_columns)
        select.join(written(table, scopes.snapshot), on=condition, copy=False)
        sources[edge.other] = table.name
        names.append(table.name)
    return names


def join_by_reference(statement: Statement, context: Context) -> str | None:
    """Inner joins on columns that refer to nothing follow the foreign keys instead, over other tables where needed."""
    return _rejoined(statement, context, lambda _joined: True)


def repair_join(statement: Statement, context: Context) -> str | None:
    """The same for the inner joins alone that compare a column which its table has not."""
    return _rejoined(statement, context, _JoinedColumns.missing)


@dataclass(frozen=True, slots=True)
class _JoinedColumns:
    """An inner JOIN on one equality: a column of a table before it and one of its own table."""

    other: TableRef
    left: str
    last: TableRef
    right: str

    def missing(self) -> bool:
        """Whether one of the two tables has no such column."""
        sides = (self.other.table, self.left), (self.last.table, self.right)
        return any(table is not None and not _has(table, name) for table, name in sides)


def _rejoined(statement: Statement, context: Context, wanted: Callable[[_JoinedColumns], bool]) -> str | None:
    changed: list[str] = []
    for select in statement.tree.find_all(exp.Select):
        reads = statement.scopes.reads[id(select)]
        if any(read.table is None for read in reads):
            continue
        for place, join in list(enumerate(from_parts(select)))[1:]:
            joined = _compared(join, reads[:place], reads[place])
            if joined is not None and wanted(joined) and _followed(select, join, joined, reads, context):
                changed.append(reads[place].name)
    if not changed:
        return None
    statement.bind()
    join_missing_tables(statement, context)
    return f"joins {', '.join(changed)} by the foreign key"


def _followed(
    select: exp.Select, join: exp.Expression, joined: _JoinedColumns, reads: list[TableRef], context: Context
) -> bool:
    other, last = joined.other, joined.last
    if other.table is None or last.table is None or other.table.key == last.table.key:
        return False
    pairs = context.references.column_pairs(other.table.key, last.table.key)
    if (joined.left, joined.right) in pairs:
        return False
    if len(pairs) == 1:
        (left, right) = pairs[0]
        join.set("on", equality(other.name, [left], last.name, [right]))
        return True
    there = [read.table.key for read in reads[: reads.index(last)] if read.table]
    if pairs or not context.references.reachable(there, last.table.key):
        return False
    return _taken_out(select, join, last, [read for read in reads if read is not last])


def _taken_out(
    select: exp.Select, join: exp.Expression, last: TableRef, others: Collection[TableRef]
) -> bool:
    """Removes the join; what needs its table names it by its own name, so that the way there is looked up again.

    False, and nothing changed, where another join needs it, or FROM has that name or that table once more.
    """
    table = last.table
    if table is None or any(read.name == table.name or read.table == table for read in others):
        return False
    inside = {id(column) for column in join.find_all(exp.Column)}
    users = [c for c in select.find_all(exp.Column) if c.table == last.name and id(c) not in inside]
    # The table comes back behind all joins, too late for the condition of one of them.
    if any(isinstance(column.find_ancestor(exp.Join, exp.Select), exp.Join) for column in users):
        return False
    for column in users:
        column.set("table", identifier(table.name))
    join.pop()
    return True


def _compared(join: exp.Expression, before: list[TableRef], last: TableRef) -> _JoinedColumns | None:
    condition = join.args.get("on")
    if join.args.get("side") or not isinstance(condition, exp.EQ):
        return None
    one, two = condition.left, condition.right
    if not (isinstance(one, exp.Column) and isinstance(two, exp.Column)):
        return None
    if one.table == last.name:
        one, two = two, one
    found = [read for read in before if read.name == one.table]
    if not found or two.table != last.name:
        return None
    return _JoinedColumns(found[0], one.name, last, two.name)


def compare_by_reference(statement: Statement, context: Context) -> str | None:
    """`owner_id IN (SELECT dog_id FROM dogs)`: a key is compared with the column that refers to it."""
    changed = []
    for predicate in statement.tree.find_all(exp.In, exp.EQ, exp.NEQ):
        found = statement.scopes.comparison(predicate)
        if found is None or found.one.key == found.other.key:
            continue
        pairs = context.references.column_pairs(found.one.key, found.other.key)
        ways = [there for here, there in pairs if here == found.outside.name]
        if len(ways) == 1 and found.inside.name != ways[0] and _is_key(found.other, found.inside.name):
            found.inside.set("this", identifier(ways[0]))
            changed.append(f"{found.outside.name} with {ways[0]}")
    return f"compares {', '.join(changed)}" if changed else None


def _is_key(table: Table, name: str) -> bool:
    return name in table.primary_key or any(name in key.columns for key in table.foreign_keys)
