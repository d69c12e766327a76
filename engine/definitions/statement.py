"""The statement by which a definition is checked."""

from __future__ import annotations

from schema_catalog.definitions import Definition
from schema_catalog.naming import dotted, quote_ident


class DefinitionError(Exception):
    """The definition is none; the message says why."""


def statement_of(definition: Definition) -> str:
    """A statement that the database takes exactly where it takes the definition; raises `DefinitionError`."""
    column, referred = definition.column, definition.referred
    one, other = (quote_ident(each[1]) for each in (column, referred))
    other = "other" if other == one else other
    return (
        f"SELECT 1 FROM {dotted(column[:2])} AS {one} JOIN {dotted(referred[:2])} AS {other}"  # noqa: S608 - quoted names
        f" ON {one}.{quote_ident(column[2])} = {other}.{quote_ident(referred[2])}"
    )
