"""Which tables the selects of a statement read, and which of them a column belongs to.

Owns the look-up for statements that are rewritten, by sqlglot's tree; it knows the catalog's tables alone and leaves
what comes out of a query, in FROM or in WITH, unresolved. Whether names are right is `engine.sql.resolution`'s
to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from schema_catalog.naming import quote_ident
from schema_catalog.types import ColumnKey, Snapshot, Table, TableKey


@dataclass(frozen=True, slots=True)
class TableRef:
    """An entry of FROM: the name that qualifies its columns, and the table (None: a query)."""

    name: str
    table: Table | None
    node: exp.Expression


@dataclass(frozen=True, slots=True)
class SubqueryComparison:
    """A column beside what a subquery gives: `outside IN (SELECT inside …)`, and the tables that the two are of."""

    outside: exp.Column
    one: Table
    inside: exp.Column
    other: Table
    query: exp.Select


class Scopes:
    """What the selects of a statement read."""

    def __init__(self, tree: exp.Query, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.tables = {(table.schema, table.name): table for table in snapshot.tables}
        self.called: dict[str, list[Table]] = {}
        for table in snapshot.tables:
            self.called.setdefault(table.name, []).append(table)
        self.reads = {id(select): list(self._of(select)) for select in tree.find_all(exp.Select)}

    def _of(self, select: exp.Select) -> Iterator[TableRef]:
        for part in from_parts(select):
            node = part.this
            if node is not None:
                yield TableRef(node.alias_or_name, self.table(node), node)

    def table(self, node: exp.Expression) -> Table | None:
        """The catalog's table that a name in FROM means; None for a query's, be it one of WITH."""
        if not isinstance(node, exp.Table):
            return None
        if node.db:
            return self.tables.get((node.db, node.name))
        return None if in_with(node, node.name) else self.bare(node.name)

    def bare(self, name: str) -> Table | None:
        """The table that the search path finds by a name without a schema."""
        found = (t for t in self.called.get(name, ()) if self.snapshot.display_name(t) == quote_ident(t.name))
        return next(found, None)

    def reading(self, column: exp.Column) -> TableRef | None:
        """The entry of FROM that a column belongs to, as far as tables tell."""
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

    def left_out(self, part: exp.Expr) -> Iterator[SubqueryComparison]:
        """The sides of each NOT IN of `part`, where they are as in `drawn`."""
        for inside in part.find_all(exp.In):
            found = self.drawn(inside) if isinstance(inside.parent, exp.Not) else None
            if found is not None:
                yield found

    def qualify(self, select: exp.Select | None) -> None:
        """Qualifies what a select reads: a table that is going to be joined may have columns of the same names."""
        for column in () if select is None else select.find_all(exp.Column):
            if (
                not column.table
                and column.parent_select is select
                and (read := self.reading(column)) is not None
            ):
                column.set("table", identifier(read.name))

    def drawn(self, comparison: exp.Predicate) -> SubqueryComparison | None:
        """The sides of IN, = or <> where they are a table's column and a subquery that gives a table's column alone."""
        given = comparison.args.get("query") or comparison.args.get("expression")
        query = given.this if isinstance(given, exp.Subquery) else given
        if not isinstance(query, exp.Select) or len(query.expressions) != 1:
            return None
        outside, inside = comparison.this, query.expressions[0]
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
        """The column references to `table`, all or those of the column `name`."""
        return [
            column
            for column in tree.find_all(exp.Column)
            if (name is None or column.name == name)
            and (read := self.reading(column)) is not None
            and read.table is not None
            and read.table.key == table
        ]


def from_parts(select: exp.Select) -> list[exp.Expression]:
    """FROM and the joins of a select: each holds its table or query as `this`."""
    origin = select.args.get("from_") or select.args.get("from")
    return [*([origin] if origin else []), *(select.args.get("joins") or [])]


def in_with(node: exp.Expr, name: str) -> bool:
    """Whether a query of WITH is called `name` where `node` stands (docs 7.8, and SELECT, "WITH Clause").

    A query of WITH sees those before it, of WITH RECURSIVE all of them, itself included.
    """
    within: exp.Expr | None = None
    passed: exp.With | None = None
    at: exp.Expr | None = node
    while at is not None:
        if isinstance(at, exp.CTE):
            within = at
        clause = at if isinstance(at, exp.With) else at.args.get("with_") or at.args.get("with")
        if isinstance(clause, exp.With) and clause is not passed:
            queries = clause.expressions
            if at is clause and not clause.recursive:
                queries = queries[: next(n for n, cte in enumerate(queries) if cte is within)]
            if any(cte.alias == name for cte in queries):
                return True
            passed = clause
        at = at.parent
    return False


def _has(read: TableRef, column: exp.Column) -> bool:
    if column.table:
        return read.name == column.table
    return read.table is not None and any(each.name == column.name for each in read.table.columns)


def parsed(sql: str) -> exp.Query | None:
    """A statement's tree, its names as PostgreSQL reads them: unquoted ones in lower case. None where it has none."""
    try:
        tree = sqlglot.parse_one(sql, dialect="postgres")
    except sqlglot.errors.SqlglotError:
        return None
    if not isinstance(tree, exp.Query):
        return None
    for name in tree.find_all(exp.Identifier):
        if not name.quoted:
            name.set("this", name.name.lower())
    return tree


def identifier(name: str) -> exp.Identifier:
    """A name as SQL writes it."""
    return exp.to_identifier(name, quoted=quote_ident(name) != name)
