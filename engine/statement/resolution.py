"""The columns of the catalog that a statement reads, and the problems with its names.

Binding is `engine.statement.binder`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.statement.binder import bind
from engine.statement.bound_query import Bound, Cell, Merged, Ref, Row, Star
from engine.statement.problems import Problem
from schema_catalog.types import ColumnKey, Snapshot, Table, TableKey


@dataclass(frozen=True, slots=True)
class Resolution:
    """The columns and tables that a statement reads; without `problems`, all of its names exist.

    Columns of functions in FROM are not checked.
    """

    columns: frozenset[ColumnKey]
    tables: frozenset[TableKey]
    problems: tuple[Problem, ...]


def resolve(sql: str, snapshot: Snapshot) -> Resolution:
    """Resolves the names of one query against `snapshot` by PostgreSQL's rules; raises as `bind`."""
    return resolved(bind(sql, snapshot))


def resolved(bound: Bound) -> Resolution:
    """As `resolve`, of a statement whose names are bound."""
    merged = (ref for refs in bound.merges.values() for ref in refs)
    columns = frozenset(key for ref in (*bound.refs.values(), *merged) for key in columns_of(ref))
    tables = frozenset(
        source.origin.key for source in bound.sources.values() if isinstance(source.origin, Table)
    )
    return Resolution(columns, tables, tuple(bound.problems))


def columns_of(ref: Ref) -> Iterator[ColumnKey]:
    """The columns of tables that it stands for."""
    match ref:
        case Cell(source, _, position) if isinstance(source.origin, Table) and position is not None:
            yield (*source.origin.key, source.origin.columns[position].name)
        case Merged(left, right, _):
            yield from columns_of(left)
            yield from columns_of(right)
        case Row(_, refs):
            for part in refs:
                yield from columns_of(part)
        case Star(refs):
            for _, part in refs:
                yield from columns_of(part)
