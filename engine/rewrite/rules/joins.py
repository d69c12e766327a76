"""Joins that a statement forgot: it names `stadium.name` and nowhere says `FROM stadium`.

Owns the shortest path through the schema's foreign keys. Statements of the grammar qualify every column, so
what is missing is certain; how to reach it is the catalog's knowledge, not the model's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlglot import exp

from engine.rewrite.scope import Scopes, in_with, parsed
from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot, Table, TableKey


@dataclass(frozen=True, slots=True)
class Edge:
    """A foreign key, walked in either direction: equal columns, pairwise."""

    left: TableKey
    right: TableKey
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]


def complete_joins(sql: str, snapshot: Snapshot) -> str:
    """`sql` with a JOIN for every table that it names but does not read; unchanged where none is missing.

    A table that no chain of foreign keys reaches stays missing: validation will say so. Text that cannot be
    parsed comes back as it is.
    """
    tree = parsed(sql)
    if tree is None:
        return sql
    scopes = Scopes(tree, snapshot)
    edges = _edges(snapshot)
    changed = False
    for select in list(tree.find_all(exp.Select)):
        sources = {read.table.key: read.name for read in scopes.reads[id(select)] if read.table is not None}
        for missing in _missing(select, scopes):
            changed |= _join(select, missing, sources, edges, scopes)
    return tree.sql(dialect="postgres") if changed else sql


def connected(one: Table, other: Table, snapshot: Snapshot) -> list[tuple[str, str]]:
    """The pairs of columns by which one of the tables refers to the other, of references of one column."""
    return [
        (edge.left_columns[0], edge.right_columns[0])
        for edge in _edges(snapshot).get(one.key, [])
        if edge.right == other.key and len(edge.left_columns) == 1
    ]


def reachable(sources: Iterable[Table], goal: Table, snapshot: Snapshot) -> bool:
    """Whether a chain of references leads from one of `sources` to `goal`."""
    return bool(_path([table.key for table in sources], goal.key, _edges(snapshot)))


def _edges(snapshot: Snapshot) -> dict[TableKey, list[Edge]]:
    edges: dict[TableKey, list[Edge]] = {}
    for table in snapshot.tables:
        for key in table.foreign_keys:
            target = (key.ref_schema, key.ref_table)
            edges.setdefault(table.key, []).append(Edge(table.key, target, key.columns, key.ref_columns))
            edges.setdefault(target, []).append(Edge(target, table.key, key.ref_columns, key.columns))
    return edges


def _missing(select: exp.Select, scopes: Scopes) -> list[Table]:
    """The tables by which the select's own columns are qualified and that neither it nor a query around it reads."""
    used: dict[tuple[str, str], set[str]] = {}
    for column in select.find_all(exp.Column):
        if column.table and column.parent_select is select and not _visible(column, scopes):
            used.setdefault((column.db, column.table), set()).add(column.name)
    found = (_meant(schema, name, columns, scopes) for (schema, name), columns in used.items())
    return [table for table in found if table is not None]


def _visible(column: exp.Column, scopes: Scopes) -> bool:
    """Whether the column's qualifier is a name in FROM, of its query or one around it, or a query's of WITH."""
    select = column.parent_select
    while select is not None:
        for read in scopes.reads.get(id(select), ()):
            schema = read.table.schema if read.table is not None else ""
            if read.name == column.table and column.db in ("", schema):
                return True
        select = select.parent_select
    return not column.db and in_with(column, column.table)


def _meant(schema: str, name: str, columns: Collection[str], scopes: Scopes) -> Table | None:
    """The table that a qualifier means. Of several schemas' that of which all the columns are, or the search path's."""
    tables = [each for each in scopes.called.get(name, ()) if schema in ("", each.schema)]
    holders = [
        each for each in tables if {"*", *(column.name for column in each.columns)}.issuperset(columns)
    ]
    if len(holders or tables) == 1:
        return (holders or tables)[0]
    bare = scopes.bare(name)
    return bare if bare in holders else None


def _join(
    select: exp.Select,
    goal: Table,
    sources: dict[TableKey, str],
    edges: dict[TableKey, list[Edge]],
    scopes: Scopes,
) -> bool:
    """Joins `goal` and what lies between. `sources`: the select's tables and the names that qualify them; it grows."""
    path = [] if goal.key in sources else _path(sources, goal.key, edges)
    # Names that stand for another table already cannot be given again without an alias.
    if {edge.right[1] for edge in path} & set(sources.values()):
        return False
    for edge in path:
        table = scopes.tables[edge.right]
        condition = " AND ".join(
            f"{quote_ident(sources[edge.left])}.{quote_ident(left)} = {quote_ident(table.name)}.{quote_ident(right)}"
            for left, right in zip(edge.left_columns, edge.right_columns, strict=True)
        )
        select.join(scopes.snapshot.display_name(table), on=condition, dialect="postgres", copy=False)
        sources[edge.right] = table.name
    return bool(path)


def _path(sources: Iterable[TableKey], goal: TableKey, edges: dict[TableKey, list[Edge]]) -> list[Edge]:
    """The shortest chain of foreign keys from any source to `goal`; empty where there is none."""
    queue = deque[tuple[TableKey, list[Edge]]]((source, []) for source in sources)
    seen = set(sources)
    while queue:
        at, path = queue.popleft()
        for edge in edges.get(at, []):
            if edge.right == goal:
                return [*path, edge]
            if edge.right not in seen:
                seen.add(edge.right)
                queue.append((edge.right, [*path, edge]))
    return []
