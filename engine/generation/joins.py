"""Joins that a statement forgot: it names `stadium.name` and nowhere says `FROM stadium`.

Owns the shortest path through the schema's foreign keys. Statements of the grammar qualify every column, so
what is missing is certain; how to reach it is the catalog's knowledge, not the model's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from engine.generation.grammar import qualifier
from engine.state import TableKey
from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot, Table


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
    try:
        tree = sqlglot.parse_one(sql, dialect="postgres")
    except sqlglot.errors.SqlglotError:
        return sql
    names = {qualifier(snapshot, table).strip('"'): table for table in snapshot.tables}
    edges = _edges(snapshot)
    changed = False
    for select in list(tree.find_all(exp.Select)):
        for missing in _missing(select, names):
            changed |= _join(select, names[missing], names, edges, snapshot)
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


def _missing(select: exp.Select, names: dict[str, Table]) -> list[str]:
    """Qualifiers of the select's own columns that neither it nor a query around it reads."""
    visible = {name for name, _ in _sources(select)}
    outer = select.parent_select
    while outer is not None:
        visible |= {name for name, _ in _sources(outer)}
        outer = outer.parent_select
    used = [column.table for column in select.find_all(exp.Column) if column.parent_select is select]
    return [name for name in dict.fromkeys(used) if name and name not in visible and name in names]


def _sources(select: exp.Select) -> Iterator[tuple[str, str]]:
    """(name to qualify with, name of the table or "") of everything in FROM."""
    origin = select.args.get("from_") or select.args.get("from")
    for part in [*([origin] if origin else []), *(select.args.get("joins") or [])]:
        if part.this is not None:
            yield part.this.alias_or_name, part.this.name if isinstance(part.this, exp.Table) else ""


def _join(
    select: exp.Select,
    goal: Table,
    names: dict[str, Table],
    edges: dict[TableKey, list[Edge]],
    snapshot: Snapshot,
) -> bool:
    sources = {names[table].key: name for name, table in _sources(select) if table in names}
    path = _path(sources, goal.key, edges)
    for edge in path:
        table = next(table for table in snapshot.tables if table.key == edge.right)
        name = qualifier(snapshot, table)
        condition = " AND ".join(
            f"{quote_ident(sources[edge.left])}.{quote_ident(left)} = {name}.{quote_ident(right)}"
            for left, right in zip(edge.left_columns, edge.right_columns, strict=True)
        )
        select.join(snapshot.display_name(table), on=condition, dialect="postgres", copy=False)
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
