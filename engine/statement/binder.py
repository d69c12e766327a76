"""Binds the names of a statement to tables, columns and queries, scope by scope, as PostgreSQL's analysis does.

Owns the order in which the clauses of a query see each other's names (docs: SELECT, "Compatibility"; 7.2.1;
7.8) and the names of output columns. Look-up within a scope is `engine.statement.name_scope`'s. Checks no types and
calls
no server: columns that it cannot know (of a function in FROM) pass.

Long because it follows one thing, the transformation of one query level, through all its clauses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pglast import ast, enums

from engine.guard.analyse import UnreadableError, analyse
from engine.statement.bound_query import Bound, Cell, Cte, Join, Merged, Output, Query, Ref, Source, Star
from engine.statement.name_scope import Item, Lookup, Scope, close
from engine.statement.problems import Problem, duplicate_name, no_such_output, output_name, unknown_table
from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot, Table

_JOINS = {
    enums.JoinType.JOIN_INNER: Join.INNER,
    enums.JoinType.JOIN_LEFT: Join.LEFT,
    enums.JoinType.JOIN_RIGHT: Join.RIGHT,
    enums.JoinType.JOIN_FULL: Join.FULL,
}

Ctes = dict[str, "CteScope"]


class CteScope:
    """A WITH query and the scope of its definition; it is bound when it is first read."""

    def __init__(self, cte: Cte, ctes: Ctes, parent: Scope | None) -> None:
        self.cte = cte
        self.ctes = ctes
        self.parent = parent


def bind(sql: str, snapshot: Snapshot) -> Bound:
    """Binds one SELECT, VALUES or WITH statement against `snapshot`.

    Raises `engine.guard.analyse.UnreadableError` where `sql` is not one query within the guard's limits.
    """
    return bind_tree(analyse(sql).tree, snapshot)


def bind_tree(root: Any, snapshot: Snapshot) -> Bound:
    """As `bind`, of a parse tree."""
    if not isinstance(root, ast.SelectStmt):
        raise UnreadableError("only a query has names to bind")
    binder = _Binder(snapshot)
    query = binder.select(root, None, {})
    problems = list(dict.fromkeys(binder.problems))
    return Bound(root, query, binder.refs, binder.sources, binder.queries, binder.merges, problems)


class _Binder:
    """One pass over one statement."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.problems: list[Problem] = []
        self.refs: dict[int, Ref] = {}
        self.sources: dict[int, Source] = {}
        self.queries: dict[int, Query] = {}
        self.merges: dict[int, tuple[Merged, ...]] = {}
        self.lookup = Lookup(snapshot, self.problems)
        self.tables = {table.key: table for table in snapshot.tables}

    # Queries

    def select(self, node: Any, parent: Scope | None, ctes: Ctes, reading: Cte | None = None) -> Query:
        """Binds a SELECT in `parent`'s scope. `reading`: the recursive WITH query whose body this is."""
        query = Query(node)
        self.queries[id(node)] = query
        ctes = self._with(node.withClause, parent, ctes)
        if node.op != enums.SetOperation.SETOP_NONE:
            left = self.select(node.larg, parent, ctes)
            query.outputs = [(name, Output(position)) for position, name in enumerate(left.names)]
            if reading is not None and reading.columns is None:
                reading.columns = _renamed(left.names, reading.node.aliascolnames)
            self.select(node.rarg, parent, ctes)
            self._sort_of_set(node, query)
        elif node.valuesLists:
            self.expressions(node.valuesLists, Scope(parent), ctes)
            width = len(node.valuesLists[0])
            query.outputs = [(f"column{n + 1}", Output(n)) for n in range(width)]
            self._sort_of_set(node, query)
        else:
            self._plain(node, query, Scope(parent), ctes)
        for part in (node.limitCount, node.limitOffset):
            self.expressions(part, Scope(parent), ctes)
        return query

    def _plain(self, node: Any, query: Query, scope: Scope, ctes: Ctes) -> None:
        for entry in node.fromClause or ():
            scope.items.extend(self._entry(entry, scope, ctes))
            self._duplicates(scope.items)
        for target in node.targetList or ():
            self._target(target, query, scope, ctes)
        scope.outputs = query.names
        self.expressions(node.whereClause, scope, ctes)
        self.expressions(node.havingClause, scope, ctes)
        self.expressions(node.windowClause, scope, ctes)
        for part in node.groupClause or ():
            self._grouping(part, query, scope, ctes)
        for part in node.distinctClause or ():
            self._ordering(part, query, scope, ctes)
        for part in node.sortClause or ():
            self._ordering(part.node, query, scope, ctes)

    def _target(self, target: Any, query: Query, scope: Scope, ctes: Ctes) -> None:
        self.expressions(target.val, scope, ctes)
        bound = self.refs.get(id(target.val))
        if isinstance(bound, Star):
            query.outputs.extend(bound.refs)
        else:
            query.outputs.append((target.name or output_name(target.val), target.val))

    def _sort_of_set(self, node: Any, query: Query) -> None:
        """ORDER BY of a set operation or VALUES sees the output columns alone."""
        scope = Scope(
            None, [Item(None, tuple((name, Output(n)) for n, name in enumerate(query.names)), None)]
        )
        for part in node.sortClause or ():
            self._ordering(part.node, query, scope, {})

    def _ordering(self, node: Any, query: Query, scope: Scope, ctes: Ctes) -> None:
        """An element of ORDER BY or DISTINCT ON: a number or a bare name is an output first."""
        if node is None or self._number(node, query):
            return
        name = _bare(node)
        if name is not None and name in query.names:
            self.refs[id(node)] = Output(query.names.index(name))
        else:
            self.expressions(node, scope, ctes)

    def _grouping(self, node: Any, query: Query, scope: Scope, ctes: Ctes) -> None:
        """An element of GROUP BY: a bare name is a column of FROM first, then an output."""
        if isinstance(node, ast.GroupingSet):
            parts: Any = node.content or ()
        elif isinstance(node, ast.RowExpr):
            parts = node.args or ()
        else:
            name = _bare(node)
            from_column = name is not None and (self.lookup.local(scope, name) or name not in query.names)
            if self._number(node, query):
                return
            if name is None or from_column:
                self.expressions(node, scope, ctes)
            else:
                self.refs[id(node)] = Output(query.names.index(name))
            return
        for part in parts:
            self._grouping(part, query, scope, ctes)

    def _number(self, node: Any, query: Query) -> bool:
        """Whether `node` is a number that means an output column."""
        if not isinstance(node, ast.A_Const) or not isinstance(node.val, ast.Integer):
            return False
        place: Any = node.val.ival
        if not 1 <= place <= len(query.outputs):
            self.problems.append(no_such_output(place, len(query.outputs)))
        self.refs[id(node)] = Output(place - 1)
        return True

    # WITH

    def _with(self, clause: Any, parent: Scope | None, outer: Ctes) -> Ctes:
        if clause is None:
            return outer
        inner = dict(outer)
        for node in clause.ctes:
            cte = Cte(node.ctename, node)
            # A recursive WITH sees all of its queries, another one those before it.
            inner = inner if clause.recursive else dict(inner)
            added = CteScope(cte, inner if clause.recursive else dict(inner), parent)
            inner[node.ctename] = added
        for node in clause.ctes:
            self._bind_cte(inner[node.ctename])
        return inner

    def _bind_cte(self, found: CteScope) -> Cte:
        cte = found.cte
        if cte.query is None and cte.binding:
            cte.recursive = True
        elif cte.query is None:
            cte.binding = True
            cte.query = self.select(cte.node.ctequery, found.parent, found.ctes, reading=cte)
            added = _search_and_cycle_columns(cte.node)
            cte.columns = (*_renamed(cte.query.names, cte.node.aliascolnames), *added)
            cte.binding = False
        return cte

    # FROM

    def _entry(self, node: Any, scope: Scope, ctes: Ctes) -> list[Item]:
        """The names that one entry of FROM brings; `scope` holds those to its left."""
        match node:
            case ast.RangeVar():
                return [self._item(node, self._table(node, ctes))]
            case ast.RangeTableSample():
                self.expressions((node.args, node.repeatable), scope, ctes)
                return self._entry(node.relation, scope, ctes)
            case ast.RangeSubselect():
                query = self.select(node.subquery, scope if node.lateral else scope.parent, ctes)
                return [self._item(node, self._source(node, "", query.names, query))]
            case ast.RangeFunction():
                self.expressions(node.functions, scope, ctes)
                return [self._item(node, self._function(node))]
            case ast.JoinExpr():
                return self._join(node, scope, ctes)
            case _:
                # JSON_TABLE; its arguments see the entries to its left.
                self.expressions(node, scope, ctes)
                name = node.alias.aliasname if node.alias else "json_table"
                return [self._item(node, Source(name, (), None, open=True))]

    def _item(self, node: Any, source: Source) -> Item:
        self.sources[id(node)] = source
        cells = tuple((name, Cell(source, name, place)) for place, name in enumerate(source.columns))
        if node.alias is not None and node.alias.colnames:
            self.lookup.check_whole(cell for _, cell in cells)
        return Item(source.name or None, cells, source)

    def _source(self, node: Any, name: str, columns: tuple[str, ...], origin: Any) -> Source:
        alias = node.alias
        if alias is None:
            return Source(name, columns, origin, open=origin is None)
        renamed = _renamed(columns, alias.colnames)
        return Source(alias.aliasname, renamed, origin, open=origin is None, aliased=True)

    def _table(self, node: Any, ctes: Ctes) -> Source:
        if node.schemaname is None and node.relname in ctes:
            cte = self._bind_cte(ctes[node.relname])
            return self._source(node, node.relname, cte.columns or (), cte)
        table = self._find(node.schemaname, node.relname)
        if table is None:
            written = (node.schemaname, node.relname) if node.schemaname else (node.relname,)
            self.problems.append(unknown_table(written, self._similar_tables(node.relname, ctes)))
            return self._source(node, node.relname, (), None)
        return self._source(node, node.relname, tuple(column.name for column in table.columns), table)

    def _find(self, schema: str | None, name: str) -> Table | None:
        if schema is not None:
            return self.tables.get((schema, name))
        for path in self.snapshot.search_path:
            table = self.tables.get((path, name))
            if table is not None:
                return None if table.key in self.snapshot.shadowed else table
        return None

    def _similar_tables(self, name: str, ctes: Ctes) -> tuple[str, ...]:
        same = tuple(
            self.snapshot.display_name(table) for table in self.snapshot.tables if table.name == name
        )
        shown = {quote_ident(table.name): self.snapshot.display_name(table) for table in self.snapshot.tables}
        near = close(name, [*(table.name for table in self.snapshot.tables), *ctes])
        return same or tuple(shown.get(other, other) for other in near)

    def _function(self, node: Any) -> Source:
        first = node.functions[0][0]
        own = output_name(first)
        alias = node.alias.aliasname if node.alias else own
        definitions = [*(node.coldeflist or ()), *(d for _, defined in node.functions for d in defined or ())]
        columns = tuple(definition.colname for definition in definitions)
        named = tuple(part.sval for part in (node.alias.colnames or ())) if node.alias else ()
        known = bool(node.coldeflist) and not node.ordinality
        # A function that gives one plain column calls it by the alias.
        columns = _renamed(columns, (node.alias.colnames or ()) if node.alias else ()) or named or (alias,)
        return Source(alias, columns, None, open=not known, aliased=node.alias is not None)

    def _join(self, node: Any, scope: Scope, ctes: Ctes) -> list[Item]:
        left = self._entry(node.larg, scope, ctes)
        right = self._entry(node.rarg, Scope(scope.parent, [*scope.items, *left]), ctes)
        self._duplicates([*left, *right])
        shared = self._shared(node, left, right)
        if node.isNatural or (node.alias is not None and node.alias.colnames):
            self.lookup.check_whole(ref for _, ref in _bare_columns([*left, *right]))
        merged = [(name, self._merge(name, left, right, _JOINS[node.jointype])) for name in shared]
        self.merges[id(node)] = tuple(ref for _, ref in merged if isinstance(ref, Merged))
        self.expressions(node.quals, Scope(scope.parent, [*left, *right]), ctes)
        rest = [pair for pair in _bare_columns([*left, *right]) if pair[0] not in shared]
        columns = (*merged, *rest)
        if node.alias is not None:
            names = _renamed(tuple(name for name, _ in columns), node.alias.colnames)
            renamed = tuple((name, ref) for name, (_, ref) in zip(names, columns, strict=True))
            return [Item(node.alias.aliasname, renamed, None)]
        if not shared:
            return [*left, *right]
        hidden = [
            Item(i.name, i.columns, i.source, qualifies=i.qualifies, bare=False) for i in (*left, *right)
        ]
        using = node.join_using_alias
        named = [Item(using.aliasname, tuple(merged), None, bare=False)] if using else []
        return [*hidden, Item(None, columns, None, qualifies=False), *named]

    def _shared(self, node: Any, left: list[Item], right: list[Item]) -> list[str]:
        if node.isNatural:
            there = {name for name, _ in _bare_columns(right)}
            return list(dict.fromkeys(name for name, _ in _bare_columns(left) if name in there))
        return [part.sval for part in node.usingClause or ()]

    def _merge(self, name: str, left: list[Item], right: list[Item], join: Join) -> Ref:
        one, other = (self.lookup.column(Scope(None, side), name) for side in (left, right))
        return Merged(one, other, join)

    def _duplicates(self, items: Iterable[Item]) -> None:
        named = [item for item in items if item.name and item.qualifies]
        # Two tables of one name in different schemas are told apart by their schemas.
        keys = [(item.name, None if item.source is None else _table_key(item.source)) for item in named]
        for name in dict.fromkeys(name for name, _ in keys):
            same = [key for other, key in keys if other == name]
            if len(same) > 1 and (None in same or len(set(same)) < len(same)):
                self.problems.append(duplicate_name(name or ""))

    # Expressions

    def expressions(self, node: Any, scope: Scope, ctes: Ctes) -> None:
        """Binds every column reference and subquery in `node`, which may be None or a tuple."""
        if isinstance(node, tuple):
            for part in node:
                self.expressions(part, scope, ctes)
        elif isinstance(node, ast.SelectStmt):
            self.select(node, scope, ctes)
        elif isinstance(node, ast.ColumnRef):
            self.refs[id(node)] = self._column(node, scope)
        elif isinstance(node, ast.Node):
            self.expressions(tuple(getattr(node, slot) for slot in _slots(node)), scope, ctes)

    def _column(self, node: Any, scope: Scope) -> Ref:
        *qualifier, last = node.fields
        names = tuple(part.sval for part in qualifier)
        if isinstance(last, ast.A_Star):
            return self.lookup.star(scope, names)
        if not names:
            return self.lookup.column(scope, last.sval)
        return self.lookup.qualified(scope, names, last.sval)


def _slots(node: Any) -> Iterable[str]:
    slots: Iterable[str] = node.__slots__
    return slots


def _bare(node: Any) -> str | None:
    """The name where `node` is a column reference of one part."""
    if isinstance(node, ast.ColumnRef):
        fields: Any = node.fields
        if len(fields) == 1 and isinstance(fields[0], ast.String):
            return fields[0].sval
    return None


def _bare_columns(items: Iterable[Item]) -> list[tuple[str, Ref]]:
    return [pair for item in items if item.bare for pair in item.columns]


def _renamed(columns: tuple[str, ...], aliases: Any) -> tuple[str, ...]:
    """`columns` with the first ones called as the column aliases say."""
    given = tuple(part.sval for part in aliases or ())
    return given[: len(columns)] + columns[len(given) :]


def _table_key(source: Source) -> tuple[str, str] | None:
    return source.origin.key if isinstance(source.origin, Table) and not source.aliased else None


def _search_and_cycle_columns(node: Any) -> tuple[str, ...]:
    search, cycle = node.search_clause, node.cycle_clause
    added = (search.search_seq_column,) if search else ()
    return (*added, cycle.cycle_mark_column, cycle.cycle_path_column) if cycle else added
