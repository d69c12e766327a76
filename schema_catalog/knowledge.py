"""What a DBA says of a database, its tables, columns, joins and terms, put into its snapshot.

Owns the precedence over what the database itself says, and what hiding takes away. Stored and changed by the functions
of the schema `nl_catalog` (`sql/0009_knowledge.sql`, `sql/0010_definitions.sql`); `schema_catalog.store` reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from schema_catalog.definitions import Join
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKey, Term


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Of one element: () the database, (schema, table), (schema, table, column). `hidden`: not for questions."""

    element: tuple[str, ...]
    description: str | None
    synonyms: tuple[str, ...]
    hidden: bool


@dataclass(frozen=True, slots=True)
class Said:
    """All that counts of what is said of one database."""

    elements: tuple[Knowledge, ...] = ()
    joins: tuple[Join, ...] = ()
    terms: tuple[Term, ...] = ()


def described(snapshot: Snapshot, said: Said) -> Snapshot | None:
    """`snapshot` with what is said: descriptions in place of comments, what is defined, and without what is hidden.

    None where nothing is left for questions. What is said of an element that the snapshot lacks does not count.
    """
    by_element = {each.element: each for each in said.elements}
    hidden = {element for element, each in by_element.items() if each.hidden}
    if () in hidden:
        return None
    readable = frozenset(
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if hidden.isdisjoint((table.key, (*table.key, column.name)))
    )
    whole = {table.key: len(table.columns) for table in snapshot.tables}
    visible = _defined(snapshot, said)
    visible = visible.restricted_to(readable) if hidden else visible
    tables = tuple(_table(table, by_element, whole[table.key]) for table in visible.tables)
    database = by_element.get(())
    texts = () if database is None else (*filter(None, [database.description]), *database.synonyms)
    return replace(visible, tables=tables, said=texts) if tables else None


def _defined(snapshot: Snapshot, said: Said) -> Snapshot:
    """Terms, and declared joins behind the foreign keys, which they never replace."""
    columns = {(*table.key, column.name) for table, column in snapshot.columns()}
    elements = columns.union(table.key for table in snapshot.tables)
    terms = tuple(term for term in said.terms if elements.issuperset(term.reads))
    declared: dict[TableKey, list[ForeignKey]] = defaultdict(list)
    for join in said.joins:
        if columns.issuperset((join.column, join.referred)):
            key = ForeignKey((join.column[2],), *join.referred[:2], (join.referred[2],))
            declared[join.column[:2]].append(key)
    tables = (
        replace(table, foreign_keys=(*table.foreign_keys, *_missing(table, declared[table.key])))
        for table in snapshot.tables
    )
    return replace(snapshot, tables=tuple(tables), terms=terms)


def _missing(table: Table, declared: Iterable[ForeignKey]) -> Iterable[ForeignKey]:
    there = {replace(key, enforced=False) for key in table.foreign_keys}
    return (key for key in declared if key not in there)


def _table(table: Table, known: dict[tuple[str, ...], Knowledge], columns: int) -> Table:
    said = known.get(table.key)
    return replace(
        table,
        columns=tuple(_column(column, known.get((*table.key, column.name))) for column in table.columns),
        description=(said and said.description) or table.description,
        synonyms=() if said is None else said.synonyms,
        partial=len(table.columns) < columns,
    )


def _column(column: Column, said: Knowledge | None) -> Column:
    if said is None:
        return column
    return replace(column, description=said.description or column.description, synonyms=said.synonyms)
