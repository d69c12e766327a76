"""Values of the database as text for a prompt, behind the schema, so that the prefix stays the same.

A line is a predicate in SQL. No value has a line break or a mark of the prompt's structure
(`engine.linking.value_reader`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from engine.core.elements import WHOLE_TABLE, Relation, ValueLink, is_masked
from engine.decoding.sql_grammar import qualifier
from engine.prompting.prompts import prompt
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey, Snapshot


def value_text(
    links: Sequence[ValueLink], shown: Snapshot, hidden: Container[ColumnKey] = frozenset()
) -> str:
    """The block for the prompt, or an empty text; only of columns of `shown` that are not in `hidden`."""
    lines = dict.fromkeys(
        line
        for link in links
        if not is_masked(link.column, hidden) and (line := condition(link, shown)) is not None
    )
    return prompt("values", lines="\n".join(lines)) + "\n\n" if lines else ""


def condition(link: ValueLink, shown: Snapshot) -> str | None:
    """`singer.country = 'France'`; None where `shown` does not have the column."""
    name = element_name(link.column, shown)
    if name is None:
        return None
    literals = map(quote_literal, link.values)
    return (
        f"{name} {'is either' if link.relation is Relation.ONE_OF else link.relation} {' or '.join(literals)}"
    )


def element_name(element: ColumnKey, shown: Snapshot) -> str | None:
    """The element in SQL, `singer` or `singer.country`; None where `shown` does not have it."""
    table = next((table for table in shown.tables if table.key == element[:2]), None)
    if table is None:
        return None
    if element[2] == WHOLE_TABLE:
        return qualifier(shown, table)
    if element[2] not in {column.name for column in table.columns}:
        return None
    return f"{qualifier(shown, table)}.{quote_ident(element[2])}"
