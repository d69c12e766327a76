"""Which tables the selects of a statement read, and which of them a column belongs to.

Owns that look-up for rules over sqlglot's tree. Scopes are `sqlglot.optimizer.scope`'s; here their sources meet the
catalog. Whether a statement's names are right is `engine.sql.resolution`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from engine.text.tokens import identifier_words
from schema_catalog.naming import quote_ident
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey


@dataclass(frozen=True, slots=True)
class TableRef:
    """An entry of FROM: the name that qualifies its columns, and the table; None for a query's rows."""

    name: str
    table: Table | None
    node: exp.Expression


@dataclass(frozen=True, slots=True)
class SubqueryComparison:
    """`outside IN (SELECT inside FROM …)` or the like, and the tables that the two columns belong to."""

    outside: exp.Column
    one: Table
    inside: exp.Column
    other: Table
    query: exp.Select


class Scopes:
    """The selects of one statement; void once the statement's FROM clauses change."""

    def __init__(self, tree: exp.Query, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.tables = {table.key: table for table in snapshot.tables}
        self.called: dict[str, list[Table]] = {}
        for table in snapshot.tables:
            self.called.setdefault(table.name, []).append(table)
        # In WITH RECURSIVE a query may be named before it is written, which sqlglot's scopes do not see.
        self._recursive = {
            query.alias
            for clause in tree.find_all(exp.With)
            if clause.args.get("recursive")
            for query in clause.expressions
        }
        self.reads = {
            id(select): list(self._references(select, scope))
            for scope in traverse_scope(tree)
            if isinstance(select := scope.expression, exp.Select)
        }

    def _references(self, select: exp.Select, scope: Scope) -> Iterator[TableRef]:
        for part in from_parts(select):
            name = part.this.alias_or_name
            yield TableRef(name, self._table(part.this, scope.sources.get(name)), part.this)

    def _table(self, node: exp.Expression, source: object) -> Table | None:
        """The catalog's table that FROM names; None for a query's rows, be it one of WITH."""
        if not isinstance(node, exp.Table) or not isinstance(source, exp.Table):
            return None
        if node.db:
            return self.tables.get((node.db, node.name))
        return None if node.name in self._recursive else self.bare(node.name)

    def bare(self, name: str) -> Table | None:
        """The table that the search path finds by a name without a schema."""
        found = (t for t in self.called.get(name, ()) if self.snapshot.display_name(t) == quote_ident(t.name))
        return next(found, None)

    def reading(self, column: exp.Column) -> TableRef | None:
        """The entry of FROM that a column belongs to; None where only a query's output could hold it."""
        select = column.parent_select
        while select is not None:
            reads = self.reads.get(id(select), [])
            found = [read for read in reads if _has(read, column)]
            if found:
                return found[0]
            if not column.table and any(read.table is None for read in reads):
                return None
            select = select.parent_select
        return None

    def place(self, node: object) -> tuple[str, str] | None:
        """The name in FROM that a column belongs to, and its own; None for anything else."""
        read = self.reading(node) if isinstance(node, exp.Column) else None
        return (read.name, node.name) if read is not None and isinstance(node, exp.Column) else None

    def stored(self, node: object) -> Column | None:
        """The catalog's column that a column reads; None for anything else."""
        read = self.reading(node) if isinstance(node, exp.Column) else None
        if read is None or read.table is None or not isinstance(node, exp.Column):
            return None
        return next((each for each in read.table.columns if each.name == node.name), None)

    def visible(self, column: exp.Column) -> bool:
        """Whether the column's qualifier is a name in FROM, of its query or of one around it."""
        select = column.parent_select
        while select is not None:
            for read in self.reads.get(id(select), ()):
                schema = read.table.schema if read.table is not None else ""
                if read.name == column.table and column.db in ("", schema):
                    return True
            select = select.parent_select
        return False

    def qualify(self, select: exp.Select | None) -> None:
        """Qualifies the bare columns of a select: a table that is joined later may have columns of their names."""
        for column in () if select is None else select.find_all(exp.Column):
            if (
                not column.table
                and column.parent_select is select
                and (read := self.reading(column)) is not None
            ):
                column.set("table", identifier(read.name))

    def comparison(self, predicate: exp.Predicate) -> SubqueryComparison | None:
        """IN, = or <> taken apart where it compares a table's column with a subquery that gives one table's column."""
        given = predicate.args.get("query") or predicate.args.get("expression")
        query = given.this if isinstance(given, exp.Subquery) else given
        if not isinstance(query, exp.Select) or len(query.expressions) != 1:
            return None
        outside, inside = predicate.this, query.expressions[0]
        if not isinstance(outside, exp.Column) or not isinstance(inside, exp.Column):
            return None
        one, other = self.reading(outside), self.reading(inside)
        if one is None or other is None or one.table is None or other.table is None:
            return None
        return SubqueryComparison(outside, one.table, inside, other.table, query)

    def shown(self, tree: exp.Query) -> frozenset[ColumnKey]:
        """The tables' columns that a statement gives as they are, of a set operation those of its first query."""
        first: exp.Expr = tree
        while isinstance(first, exp.SetOperation):
            first = first.left
        items = first.expressions if isinstance(first, exp.Select) else []
        columns = [each for item in items if isinstance(each := item.unalias(), exp.Column)]
        reads = [(column, self.reading(column)) for column in columns]
        return frozenset((*read.table.key, column.name) for column, read in reads if read and read.table)

    def columns(self, tree: exp.Query, table: TableKey, name: str | None = None) -> list[exp.Column]:
        """The column references to `table`: all, or those to its column `name`."""
        return [
            column
            for column in tree.find_all(exp.Column)
            if (name is None or column.name == name)
            and (read := self.reading(column)) is not None
            and read.table is not None
            and read.table.key == table
        ]


def _has(read: TableRef, column: exp.Column) -> bool:
    if column.table:
        return read.name == column.table
    return read.table is not None and has_column(read.table, column.name)


def from_parts(select: exp.Select) -> list[exp.Expression]:
    """FROM and the joins of a select, in the order of its `Scopes.reads`: each holds its table or query as `this`."""
    origin = select.args.get("from_") or select.args.get("from")
    return [*([origin] if origin else []), *(select.args.get("joins") or [])]


def identifier(name: str) -> exp.Identifier:
    """A name as SQL writes it."""
    return exp.to_identifier(name, quoted=quote_ident(name) != name)


def equality(name: str, columns: Sequence[str], other: str, other_columns: Sequence[str]) -> exp.Condition:
    """The condition of a join by a key: `name.column = other.column`, pairwise."""
    return exp.and_(
        *(
            exp.EQ(this=_qualified(name, column), expression=_qualified(other, other_column))
            for column, other_column in zip(columns, other_columns, strict=True)
        ),
        copy=False,
    )


def _qualified(name: str, column: str) -> exp.Column:
    return exp.column(identifier(column), identifier(name))


def written(table: Table, snapshot: Snapshot) -> exp.Table:
    """A table as FROM names it."""
    return exp.to_table(snapshot.display_name(table), dialect="postgres")


def has_column(table: Table, name: str) -> bool:
    """Whether the table has a column of the name."""
    return any(column.name == name for column in table.columns)


def means_one_of(table: Table, name: str) -> bool:
    """Whether the table has the column, or one whose name says that and more: who says `name` may mean `name_first`."""
    words = set(identifier_words(name))
    return has_column(table, name) or any(words < set(identifier_words(each.name)) for each in table.columns)


def nullable(table: Table, name: str) -> bool:
    """Whether a column of the table may be NULL."""
    return name not in table.primary_key and any(c.name == name and c.nullable for c in table.columns)
