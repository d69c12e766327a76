"""SQL as a grammar that names only what the catalog holds, less what is masked.

Owns the Lark text for llguidance. Masking in the decoder keeps the prompt, and with it the model's prefix
cache, the same for every candidate, and makes an invented column impossible. Every column is written
`table.column`, so a mask is exact and the statement says which tables it needs; what it forgets to join, `joins`
adds. The second occurrence of a table is `table_2`, so that even in a self-join a name has one meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources

from engine.state import ColumnKey
from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot, Table

WHOLE_TABLE = "*"
"""The column of a `ColumnKey` that stands for its table: masked, nothing of the table may be named."""


def sql_grammar(snapshot: Snapshot, masked: frozenset[ColumnKey]) -> str:
    """The Lark grammar of one SELECT over `snapshot` without `masked`.

    Raises `ValueError` where no column is left.
    """
    tables = [table for table in snapshot.tables if (*table.key, WHOLE_TABLE) not in masked]
    columns = [(t, c.name) for t in tables for c in t.columns if (*t.key, c.name) not in masked]
    if not columns:
        raise ValueError("every column is masked")
    named = {table.key for table, _ in columns}
    tables = [table for table in tables if table.key in named]
    stars = _stars(snapshot, tables, masked)
    rules = [
        resources.files("engine.generation").joinpath("select.lark").read_text(encoding="utf-8"),
        f"table_ref: {' | '.join(_reference(snapshot, table) for table in tables)}",
        f"column: {_alternatives(_column_names(snapshot, columns))}",
        f"item: expr (\" AS \" ALIAS)?{''.join(f' | {_literal(star)}' for star in stars)}",
    ]
    return "\n".join(rules) + "\n"


def qualifier(snapshot: Snapshot, table: Table) -> str:
    """The name that qualifies the table's columns: its own, without a schema."""
    name = snapshot.display_name(table)
    return name if "." not in name else quote_ident(table.name)


def second(snapshot: Snapshot, table: Table) -> str:
    """The name of a table's second occurrence."""
    return quote_ident(f"{table.name}_2")


def _reference(snapshot: Snapshot, table: Table) -> str:
    """A table, or its second occurrence. Two lexemes: the lexer cannot go back from a name that a longer one begins with."""
    name = snapshot.display_name(table)
    return f"{_literal(name)} ({_literal(f' AS {second(snapshot, table)}')})?"


def _column_names(snapshot: Snapshot, columns: Iterable[tuple[Table, str]]) -> list[str]:
    names = []
    for table, column in columns:
        names.append(f"{qualifier(snapshot, table)}.{quote_ident(column)}")
        names.append(f"{second(snapshot, table)}.{quote_ident(column)}")
    return names


def _stars(snapshot: Snapshot, tables: Iterable[Table], masked: frozenset[ColumnKey]) -> list[str]:
    """`*` only while nothing is masked, `t.*` only where nothing of t is: a star would read what is hidden."""
    hidden = {key[:2] for key in masked}
    whole = [f"{qualifier(snapshot, table)}.*" for table in tables if table.key not in hidden]
    return [*whole, *(["*"] if not masked else [])]


def _alternatives(names: Iterable[str]) -> str:
    return " | ".join(map(_literal, dict.fromkeys(names)))


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
