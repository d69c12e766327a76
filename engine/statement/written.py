"""Names, conditions and whole statements on one line of SQL, and foreign text between quotes.

Owns how they are written wherever they are data: in prompts, in a trace, beside a statement.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

from engine.values.elements import WHOLE_TABLE, Relation, ValueLink
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey, Snapshot, Table, Term

QUESTION = 160
"""Characters of an earlier question that a prompt shows."""


STATEMENT = 400
"""Characters of an example's statement at most."""


_LITERAL = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")")


_MARKS = ("--", "/*", "```", "###", "$$")
"""Comments, and marks of the prompt's and the answer's structure."""


def unmarked(text: str, most: int = QUESTION) -> str:
    """Foreign text on one line, cut to `most` characters, without double quotes and marks of structure."""
    said = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text)
    said = " ".join(said.replace('"', "'").replace("`", "'").replace("#", "").split())
    return said if len(said) <= most else said[: most - 1] + "…"


def quoted(text: str, most: int = QUESTION) -> str:
    """`unmarked` in double quotes."""
    return f'"{unmarked(text, most)}"'


def as_literal(text: str, most: int = QUESTION) -> str:
    """`unmarked` in single quotes, as SQL writes data: double quotes are around names there."""
    return quote_literal(unmarked(text, most))


def one_line(sql: str, most: int = STATEMENT) -> str | None:
    """A statement on one line; None where it is too long, or has a line break in a literal or a mark of structure."""
    parts = _LITERAL.split(sql)
    written = "".join(
        part if place % 2 else re.sub(r"\s+", " ", part) for place, part in enumerate(parts)
    ).strip()
    if len(written) > most or any(mark in written for mark in _MARKS):
        return None
    return (
        None if any(unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp"} for each in written) else written
    )


def defined(term: Term) -> str:
    """The definition on one line."""
    return one_line(term.definition) or ""


def condition(link: ValueLink, shown: Snapshot) -> str | None:
    """`singer.country = 'France'`, `orders.state = '30' ("paid")`; None where `shown` does not have the column."""
    name = element_name(link.column, shown)
    if name is None:
        return None
    literals = map(quote_literal, link.values)
    meaning = f" ({quoted(link.span)})" if link.coded else ""
    compared = "is either" if link.relation is Relation.ONE_OF else link.relation
    return f"{name} {compared} {' or '.join(literals)}{meaning}"


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


ANY_TABLE = ("T1", "T2", "T3", "T4", "T5", "t1", "t2", "t3", "t4", "t5")
"""Aliases that models give by position, allowed for every table: a model kept from one writes another statement."""


def qualifier(snapshot: Snapshot, table: Table) -> str:
    """The name that qualifies the table's columns: its own, without a schema."""
    name = snapshot.display_name(table)
    return name if "." not in name else quote_ident(table.name)


def aliases(table: Table, taken: Container[str]) -> list[str]:
    """The aliases allowed for the table: its first letters, its initials, numbered ones."""
    name = re.sub(r"[^a-z0-9_]", "", table.name.lower()) or "t"
    initials = "".join(word[0] for word in name.split("_") if word)
    wished = [name[:1], name[:2], name[:3], initials, f"{name[0]}1", f"{name[0]}2"]
    own = [alias for alias in dict.fromkeys(wished) if quote_ident(alias) == alias and alias not in taken]
    return own + [alias for alias in ANY_TABLE if alias.lower() not in taken and alias not in own]
