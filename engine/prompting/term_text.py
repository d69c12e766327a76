"""Terms of the business as text for a prompt, behind the schema, and for who asks.

A name and a description are data: quoted, on one line, cut short. A definition is SQL that was checked, on one line.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from engine.core.elements import elements_of, elements_read, is_masked
from engine.prompting.example_text import one_line, quoted
from engine.prompting.prompts import prompt
from schema_catalog.types import ColumnKey, Snapshot, Term

TERMS = 8
"""Terms that a prompt holds at most."""


def term_text(terms: Iterable[Term], shown: Snapshot, hidden: Container[ColumnKey] = frozenset()) -> str:
    """The block for the prompt, or an empty text; only terms over elements of `shown` that are not in `hidden`."""
    columns = ((*table.key, column.name) for table, column in shown.columns())
    there = elements_read(columns, (table.key for table in shown.tables))
    lines = [
        f"{quoted(each.name)}: {defined(each)}"
        + (f"  ({quoted(each.description)})" if each.description else "")
        for each in terms
        if elements_of(each) <= there and not any(is_masked(element, hidden) for element in elements_of(each))
    ]
    return prompt("terms", lines="\n".join(lines[:TERMS])) + "\n\n" if lines else ""


def defined(term: Term) -> str:
    """The definition on one line."""
    return one_line(term.definition) or ""
