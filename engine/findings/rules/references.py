"""Rules about foreign keys: tables that are named and not read, joins and subqueries that miss the reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from engine.findings.lint import Context
from engine.statement.read import Draft
from engine.statement.scope import (
    Scopes,
    TableRef,
    equality,
    from_parts,
    has_column,
    identifier,
    means_one_of,
    written,
)
from engine.statement.written import aliases
from engine.values import wording
from schema_catalog.foreign_keys import Edge, ForeignKeyGraph
from schema_catalog.types import ColumnKey, Table, TableKey
from schema_catalog.words import identifier_words

LABELS = frozenset({"name", "title", "label", "description", "nm", "desc", "dsc", "descr"})
"""Words of the columns that people read beside a key."""


def as_named(statement: Draft, context: Context) -> str | None:
    """Quotes names that were written without their capital letters, where one name of the schema alone is such."""
    known: dict[str, set[str]] = {}
    for table, column in context.snapshot.columns():
        for each in (table.schema, table.name, column.name):
            known.setdefault(each.lower(), set()).add(each)
    own = {each.alias for each in statement.tree.find_all(exp.Alias, exp.CTE, exp.Subquery, exp.Table)}
    changed: list[str] = []
    for name in statement.tree.find_all(exp.Identifier):
        found = known.get(name.name, set())
        if not name.quoted and len(found) == 1 and name.name not in found | own:
            changed += found
            name.replace(identifier(*found))
    return wording.of(wording.SPELLS, changed)


def requalify(statement: Draft, context: Context) -> str | None:
    """Gives columns to the one table that has them, where what qualifies them has not; conditions of JOIN apart.

    What a table's rows are called (`name`) goes to no other table where the question speaks of that one.
    """
    moved = []
    for column in statement.tree.find_all(exp.Column):
        if column.find_ancestor(exp.Join, exp.Select) is not column.parent_select:
            continue
        if column.table:
            owner = _holder(column, statement.scopes, context)
        elif (owner := _only_holder(column, statement.scopes, context)) is not None:
            statement.scopes.qualify(column.parent_select)
        if owner is not None:
            column.set("table", identifier(owner))
            moved.append(column.name)
    return wording.of(wording.FROM_ITS_TABLE, moved)


def _may_be_called_by(holder: Table, column: exp.Column, scopes: Scopes, context: Context) -> bool:
    """Whether a label may be that of the rows of `holder`; what is no label may be of any table."""
    if LABELS.isdisjoint(identifier_words(column.name)):
        return True
    reads = [read for read in scopes.reads.get(id(column.parent_select), []) if read.table is not None]
    if any(read.table is holder for read in reads):
        named = scopes.reading(column)
        return named is None or named.table is None or not context.speaks_of(named.table)
    spoken = any(read.table is not None and context.speaks_of(read.table) for read in reads)
    return context.speaks_of(holder) and not spoken


def _only_holder(column: exp.Column, scopes: Scopes, context: Context) -> str | None:
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
    found = [table for table in scopes.snapshot.tables if has_column(table, column.name)]
    if len(found) != 1 or not _may_be_called_by(found[0], column, scopes, context):
        return None
    return found[0].name


def _holder(column: exp.Column, scopes: Scopes, context: Context) -> str | None:
    """What should qualify a qualified column; None where it is right or more than one table could."""
    reads = scopes.reads.get(id(column.parent_select), [])
    named = scopes.reading(column)
    if any(read.table is None for read in reads) or (named is not None and named.table is None):
        return None
    if named is not None and named.table is not None and means_one_of(named.table, column.name):
        return None
    if named is None and any(has_column(table, column.name) for table in scopes.called.get(column.table, ())):
        return None
    inside = [
        (read.name, read.table)
        for read in reads
        if read.table is not None and has_column(read.table, column.name)
    ]
    there = [read.table.key for read in reads if read.table is not None]
    beside = [
        (table.name, table)
        for table in scopes.snapshot.tables
        if has_column(table, column.name)
        and any(context.references.column_pairs(one, table.key) for one in there)
    ]
    found = inside or beside
    if len(found) != 1 or not _may_be_called_by(found[0][1], column, scopes, context):
        return None
    return found[0][0]


def join_missing_tables(statement: Draft, context: Context) -> str | None:
    """Joins each table that columns are qualified by and FROM lacks, along the shortest chain of references.

    Over one table at most that the question does not speak of.
    """
    joined: list[str] = []
    queries = {query.alias for query in statement.tree.find_all(exp.CTE)}
    for select in list(statement.tree.find_all(exp.Select)):
        reads = statement.scopes.reads[id(select)]
        sources = {read.table.key: read.name for read in reads if read.table is not None}
        missing = _missing(select, statement.scopes)
        named = [table.key for _, table in missing]
        for qualifier, table in missing:
            path = () if table.key in sources else context.ways.path(sources, table.key)
            # Names that stand for another table or a query already cannot be given again without an alias.
            hidden = {edge.other[1] for edge in path} & {*sources.values(), *queries}
            if not hidden and not context.strays(path, named):
                joined += _join(select, path, sources, statement.scopes)
                if qualifier != table.name and table.key in sources:
                    _renamed(select, qualifier, sources[table.key])
    return wording.of(wording.JOINS, joined)


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
    """The table that a qualifier means: by name, with all the columns, on the search path; else as an alias."""
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


def repair_join(statement: Draft, context: Context) -> str | None:
    """The same for the inner joins alone that compare a column which its table has not."""
    scopes, changed = statement.scopes, list[str]()
    for select in statement.tree.find_all(exp.Select):
        changed += _joined_anew(select, scopes, context)
    by_key = context.ways is context.references
    return wording.of(wording.JOINS_BY_KEY if by_key else wording.JOINS_BY_SHARED, changed)


@dataclass(frozen=True, slots=True)
class _Joined:
    """An inner JOIN on one equality: a column of a table before it and one of its own table."""

    node: exp.Expression
    other: TableRef
    left: str
    last: TableRef
    right: str

    @property
    def sides(self) -> tuple[ColumnKey, ColumnKey]:
        """The two columns, were their tables to have them."""
        one, two = self.other.table, self.last.table
        if one is None or two is None:
            raise ValueError("a query's rows are no table")
        return (*one.key, self.left), (*two.key, self.right)

    def missing(self) -> bool:
        """Whether one of the two tables has no such column."""
        sides = (self.other.table, self.left), (self.last.table, self.right)
        return any(table is not None and not has_column(table, name) for table, name in sides)


def _joined_anew(select: exp.Select, scopes: Scopes, context: Context) -> list[str]:
    """Puts joins by references in the place of those that miss a column.

    Gives the tables so joined, none where a way is not the only one.
    """
    references = context.ways
    reads = scopes.reads[id(select)]
    joins = [_compared(join, reads[:at], reads[at]) for at, join in enumerate(from_parts(select)) if at]
    tables = {read.table.key: read for read in reads if read.table is not None}
    if len(tables) < len(reads) or not all(joins):
        return []
    left = {each.sides[1][:2]: each for each in joins if each is not None}
    used = _used(select, scopes)
    wrong = [key for key, each in left.items() if each.missing() and not refer(*each.sides, references)]
    start = next(iter(tables))
    if not wrong or any(not references.reachable(tables.keys() - {key}, key) for key in wrong):
        return []
    there, made = {start: tables[start].name}, list[exp.Expression]()
    changed = [tables[key].name for key in wrong if _is_needless(left[key], left.values(), used, references)]
    left = {key: each for key, each in left.items() if tables[key].name not in changed}
    while left:
        kept = (key for key, each in left.items() if key not in wrong and each.sides[0][:2] in there)
        if (key := next(kept, None)) is not None:
            there[key] = tables[key].name
            made.append(left.pop(key).node)
            continue
        path = references.path(there, next(key for key in (*wrong, *left) if key in left))
        if (
            not path
            or context.strays(path, tables)
            or any(len(references.column_pairs(edge.table, edge.other)) > 1 for edge in path)
        ):
            return []
        for edge in path:
            table = scopes.tables[edge.other]
            joined = left.pop(edge.other, None)
            name = table.name if joined is None else tables[edge.other].name
            if joined is None and name in {read.name for read in reads}:
                return []
            this = written(table, scopes.snapshot) if joined is None else joined.node.this
            condition = equality(there[edge.table], edge.columns, name, edge.other_columns)
            made.append(exp.Join(this=this, on=condition))
            there[edge.other] = name
            changed.append(name)
    # A table in between may have columns of their names.
    scopes.qualify(select)
    select.set("joins", made)
    return changed


def _used(select: exp.Select, scopes: Scopes) -> set[str]:
    """What of FROM anything but the joins speaks of."""
    inside = {id(each) for join in from_parts(select)[1:] for each in join.find_all(exp.Column)}
    columns = (each for each in select.find_all(exp.Column) if id(each) not in inside)
    return {read.name for each in columns if (read := scopes.reading(each)) is not None}


def _is_needless(
    joined: _Joined, joins: Iterable[_Joined], used: Collection[str], references: ForeignKeyGraph
) -> bool:
    """Whether nothing needs the table of a wrong join, and no reference leads straight to it."""
    one, other = joined.sides
    needed = any(each.other is joined.last for each in joins)
    return not needed and joined.last.name not in used and not references.column_pairs(one[:2], other[:2])


def refer(one: ColumnKey, other: ColumnKey, references: ForeignKeyGraph) -> bool:
    """Whether one column refers to the other, or both to the same."""
    return other in references.counterparts(one) or references.root(one) == references.root(other)


def compared_columns(statement: Draft) -> Iterator[tuple[ColumnKey, ColumnKey]]:
    """Columns of two tables that are to be equal, in a join, a test, or over a subquery."""
    yield from ((one, other) for (_, one), (_, other) in comparisons(statement.tree, statement.scopes))


Compared = tuple[exp.Column, ColumnKey]
"""Where a column stands, and which it is."""


def comparisons(tree: exp.Query, scopes: Scopes) -> Iterator[tuple[Compared, Compared]]:
    """As `compared_columns`, with the places."""
    for equal in tree.find_all(exp.EQ):
        sides = [side for side in (equal.left, equal.right) if isinstance(side, exp.Column)]
        keys = [(side, key) for side in sides if (key := scopes.key(side)) is not None]
        if len(keys) == 2 and keys[0][1][:2] != keys[1][1][:2]:  # noqa: PLR2004 - the two sides
            yield keys[0], keys[1]
    for predicate in tree.find_all(exp.In, exp.EQ, exp.NEQ):
        found = scopes.comparison(predicate)
        if found is not None and found.one[:2] != found.other[:2]:
            yield (found.outside, found.one), (found.inside, found.other)


def _compared(join: exp.Expression, before: list[TableRef], last: TableRef) -> _Joined | None:
    condition = join.args.get("on")
    if join.args.get("side") or not isinstance(condition, exp.EQ):
        return None
    one, two = condition.left, condition.right
    if not (isinstance(one, exp.Column) and isinstance(two, exp.Column)):
        return None
    if one.table == last.name:
        one, two = two, one
    found = [read for read in before if read.name == one.table and read.table is not None]
    if not found or two.table != last.name or last.table is None:
        return None
    return _Joined(join, found[0], one.name, last, two.name)
