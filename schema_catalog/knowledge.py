"""What a DBA says of a database, its tables and its columns, put into its snapshot.

Owns the precedence over what the database itself says, and what hiding takes away. Stored and changed by the functions
of the schema `nl_catalog` (`sql/0009_knowledge.sql`); `schema_catalog.store` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from schema_catalog.types import Column, Snapshot, Table


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Of one element: () the database, (schema, table), (schema, table, column). `hidden`: not for questions."""

    element: tuple[str, ...]
    description: str | None
    synonyms: tuple[str, ...]
    hidden: bool


def described(snapshot: Snapshot, known: Iterable[Knowledge]) -> Snapshot | None:
    """`snapshot` with `known`: descriptions in place of comments, synonyms, and without what is hidden.

    None where nothing is left for questions. What is said of an element that the snapshot lacks does not count.
    """
    by_element = {each.element: each for each in known}
    hidden = {element for element, each in by_element.items() if each.hidden}
    if () in hidden:
        return None
    readable = frozenset(
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if hidden.isdisjoint((table.key, (*table.key, column.name)))
    )
    whole = {table.key: len(table.columns) for table in snapshot.tables}
    visible = snapshot.restricted_to(readable) if hidden else snapshot
    tables = tuple(_table(table, by_element, whole[table.key]) for table in visible.tables)
    said = by_element.get(())
    texts = () if said is None else (*filter(None, [said.description]), *said.synonyms)
    return replace(visible, tables=tables, said=texts) if tables else None


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
