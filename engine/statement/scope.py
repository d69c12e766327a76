"""What a statement's selects read and how they are joined, for rules over sqlglot's tree.

Owns which table a column belongs to, and taking joins by equality apart. Whether names are right is
`engine.statement.resolution`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from schema_catalog.naming import quote_ident
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey, once_per_snapshot
from schema_catalog.words import identifier_words


@dataclass(frozen=True, slots=True)
class TableRef:
    """An entry of FROM: the name that qualifies its columns, and the table; None for a query's rows."""

    name: str
    table: Table | None
    node: exp.Expression


@dataclass(frozen=True, slots=True)
class SubqueryComparison:
    """`outside IN (SELECT inside FROM …)` or the like, and which columns of tables the two are."""

    outside: exp.Column
    one: ColumnKey
    inside: exp.Column
    other: ColumnKey


@once_per_snapshot
def _tables(snapshot: Snapshot) -> tuple[Mapping[TableKey, Table], Mapping[str, Sequence[Table]]]:
    """Its tables by key and by name."""
    called: dict[str, list[Table]] = {}
    for table in snapshot.tables:
        called.setdefault(table.name, []).append(table)
    return {table.key: table for table in snapshot.tables}, called


class Scopes:
    """The selects of one statement; void once the statement's FROM clauses change."""

    def __init__(self, tree: exp.Query, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.tables, self.called = _tables(snapshot)
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

    def all_reads(self) -> list[TableRef]:
        """Every entry of every FROM."""
        return [read for reads in self.reads.values() for read in reads]

    def _table(self, node: exp.Expression, source: object) -> Table | None:
        """The catalog's table that FROM names; None for a query's rows, also those of WITH."""
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

    def key(self, node: object) -> ColumnKey | None:
        """The column of a table, there or not, that a column names; None for anything else."""
        read = self.reading(node) if isinstance(node, exp.Column) else None
        if read is None or read.table is None or not isinstance(node, exp.Column):
            return None
        return (*read.table.key, node.name)

    def keys(self, parts: Iterable[exp.Expr]) -> set[ColumnKey]:
        """The columns of tables that are named within `parts`."""
        return {key for part in parts for each in part.find_all(exp.Column) if (key := self.key(each))}

    def stored(self, node: object) -> Column | None:
        """The catalog's column that a column reads; None for anything else."""
        key = self.key(node)
        columns = () if key is None else self.tables[key[:2]].columns
        return next((each for each in columns if key is not None and each.name == key[2]), None)

    def type_of(self, node: object) -> str:
        """The type of a stored column; empty for anything else."""
        column = self.stored(node)
        return "" if column is None else column.type

    def time_type(self, node: object) -> str:
        """The same of a column of dates or timestamps alone."""
        kind = self.type_of(node)
        return kind if kind == "date" or kind.startswith("timestamp") else ""

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
        one, other = self.key(outside), self.key(inside)
        return None if one is None or other is None else SubqueryComparison(outside, one, inside, other)

    def shown(self, tree: exp.Query) -> frozenset[ColumnKey]:
        """The tables' columns that a statement gives as they are, of a set operation those of its first query."""
        first: exp.Expr = tree
        while isinstance(first, exp.SetOperation):
            first = first.left
        items = first.expressions if isinstance(first, exp.Select) else []
        return frozenset(key for item in items if (key := self.key(item.unalias())))

    def columns(self, tree: exp.Query, table: TableKey, name: str | None = None) -> list[exp.Column]:
        """The column references to `table`: all, or those to its column `name`."""
        named = (each for each in tree.find_all(exp.Column) if name in (None, each.name))
        return [each for each in named if (key := self.key(each)) is not None and key[:2] == table]


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
    return has_column(table, name) or any(says_more(name, each.name) for each in table.columns)


def says_more(name: str, other: str) -> bool:
    """Whether another name has all words of `name`, and more."""
    return set(identifier_words(name)) < set(identifier_words(other))


def nullable(table: Table, name: str) -> bool:
    """Whether a column of the table may be NULL."""
    return name not in table.primary_key and any(c.name == name and c.nullable for c in table.columns)


SORTING = ("order", "limit", "offset")
"""The clauses of a select that come after its rows are known."""

GROUPING = ("group", "having")
"""The clauses of a select that make groups of its rows."""

_MORE = ("windows", "qualify", "with_", "with")
"""The clauses of a select that is more than a join tree with conditions, sorted or grouped."""


@dataclass(frozen=True, slots=True)
class JoinEdge:
    """A join's equality, from the column of one table to that of another."""

    near: exp.Column
    far: exp.Column

    def turned(self) -> JoinEdge:
        """The same from the other side."""
        return JoinEdge(self.far, self.near)


@dataclass(frozen=True, slots=True)
class Branch:
    """Tables that are joined to the others by one link alone, many rows of theirs to one of the others' or not."""

    reads: list[TableRef]
    link: JoinEdge
    many: bool


@dataclass(frozen=True, slots=True)
class JoinTree:
    """A select of tables joined by equalities: what it reads, by which links, and the parts of its WHERE."""

    tree: exp.Select
    scopes: Scopes
    reads: list[TableRef]
    links: list[JoinEdge]
    tests: list[exp.Expr]

    def ways(self) -> list[JoinEdge]:
        """The links, from either side."""
        return [*self.links, *(link.turned() for link in self.links)]

    def names(self, parts: Iterable[exp.Expr]) -> set[str]:
        """Of what FROM reads, that which `parts` speak of."""
        columns = (column for part in parts for column in part.find_all(exp.Column))
        return {read.name for column in columns if (read := self.scopes.reading(column)) is not None}

    def aggregates(self) -> bool:
        """Whether something shown is an aggregate."""
        return any(item.find(exp.AggFunc) for item in self.tree.expressions)

    def shown(self) -> list[exp.Expr]:
        """What is given, grouped by and sorted by."""
        parts = (self.tree.args.get(name) for name in (*GROUPING, *SORTING))
        return [*self.tree.expressions, *(part for part in parts if part)]

    def branch(self, column: exp.Column, kept: set[str]) -> Branch | None:
        """The tables from that of `column` up to those that are kept; None where it is kept, or more than one link."""
        start = self.scopes.reading(column)
        if start is None or start.name in kept:
            return None
        inside, ways = {start.name}, self.ways()
        while new := {self._name(way.far) for way in ways if self._name(way.near) in inside} - kept - inside:
            inside |= new
        border = [way for way in ways if self._name(way.near) in kept and self._name(way.far) in inside]
        far = self.scopes.reading(border[0].far) if len(border) == 1 else None
        if far is None or far.table is None:
            return None
        reads = [read for read in self.reads if read.name in inside]
        return Branch(reads, border[0], many=far.table.primary_key != (border[0].far.name,))

    def without(self, tests: Sequence[exp.Expr], reads: Sequence[TableRef]) -> exp.Select:
        """The select less some parts of its WHERE and less some tables."""
        names = {read.name for read in reads}
        select = self.over([read for read in self.reads if read.name not in names], self.tree.expressions)
        for each in without_tests(self.tests, tests):
            select.where(each.copy(), copy=False)
        for name in ("distinct", *GROUPING, *SORTING):
            if part := self.tree.args.get(name):
                select.set(name, part.copy())
        return select

    def over(self, reads: Sequence[TableRef], items: Sequence[exp.Expr]) -> exp.Select:
        """`items` of `reads`, joined by the links between them."""
        select = exp.select(*(item.copy() for item in items)).from_(reads[0].node.copy())
        there, ways = {reads[0].name}, self.ways()
        for _ in reads[1:]:
            read, way = next(
                (read, way)
                for way in ways
                for read in reads
                if self._name(way.near) in there
                and self._name(way.far) == read.name
                and read.name not in there
            )
            select.join(
                read.node.copy(), on=exp.EQ(this=way.near.copy(), expression=way.far.copy()), copy=False
            )
            there.add(read.name)
        return select

    def _name(self, column: exp.Column) -> str:
        read = self.scopes.reading(column)
        return "" if read is None else read.name


def join_tree(
    tree: exp.Query, scopes: Scopes, *, grouped: bool = False, outer: bool = False
) -> JoinTree | None:
    """None where the statement is more than that, or a join compares other tables than its own with one before it.

    `grouped`: it may make groups of its rows. `outer`: its joins may be left ones.
    """
    more = _MORE if grouped else (*_MORE, *GROUPING)
    if not isinstance(tree, exp.Select) or any(tree.args.get(each) for each in more):
        return None
    reads, links = scopes.reads[id(tree)], []
    if not reads or any(read.table is None for read in reads):
        return None
    before = {reads[0].name}
    for read, join in zip(reads[1:], from_parts(tree)[1:], strict=True):
        on = join.args.get("on")
        if join.args.get("side", "") not in (("", "LEFT") if outer else ("",)) or not isinstance(on, exp.EQ):
            return None
        if not isinstance(on.left, exp.Column) or not isinstance(on.right, exp.Column):
            return None
        link = JoinEdge(on.left, on.right)
        ends = {found.name for end in (link.near, link.far) if (found := scopes.reading(end)) is not None}
        if read.name not in ends or not ends & before:
            return None
        links.append(link)
        before.add(read.name)
    return JoinTree(tree, scopes, reads, links, tests_of(tree))


def tests_of(query: exp.Query) -> list[exp.Expr]:
    """The parts of its WHERE, all of which have to hold; none of a set operation."""
    where = query.args.get("where")
    return [] if where is None else list(conjuncts(where.this))


def without_tests(tests: Sequence[exp.Expr], dropped: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Those of `tests` that are none of `dropped`; of two alike one may stay."""
    return [test for test in tests if all(test is not each for each in dropped)]


def keep_tests(query: exp.Query, tests: Sequence[exp.Expr]) -> None:
    """Leaves `tests` of its WHERE."""
    query.set("where", exp.Where(this=exp.and_(*tests, copy=False)) if tests else None)


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that all have to hold."""
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition
