"""The plain SQL that stands in the place of an NL statement: rows as JSON that the server unpacks, errors it raises.

So order, transaction status and result formats are the server's own. Names bear their schema: it runs with the
asker's rights, along whatever search path they have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from engine.values.messages import ANSWER_COLUMNS, AnswerRow, Cell, Chosen
from proxy.protocol.lexer import dollar_quoted, quoted_name

ERROR_TOKEN = "pgparley_error_"  # noqa: S105 - a marker, no secret
TEXT_OID = 25
TEXT_OIDS = frozenset({0, TEXT_OID, 705, 1042, 1043})
"""Parameter types that carry a question: to be inferred, text, unknown, char(n), varchar."""

_TYPE_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_ ,()\[\]]*|"char"')
_FIRST_WORD = re.compile(r"[ (\[]")
_WORDED = frozenset(
    "bigint bit boolean char character decimal double int integer interval numeric real smallint time timestamp"  # noqa: SIM905
    " varchar".split()
)
"""With which types begin that the grammar knows by their words (docs 8): no search path is asked about them."""

Columns = Sequence[tuple[str, str]]
"""(name, PostgreSQL type) of a result's columns."""


def table_query(columns: Columns, source: str) -> str:
    """A SELECT of `columns` from the JSON array that the expression `source` yields."""
    names = ", ".join(quoted_name(name) for name, _ in columns)
    definitions = ", ".join(f"{quoted_name(name)} {_type(kind)}" for name, kind in columns)
    return f"SELECT {names} FROM pg_catalog.json_to_recordset({source}) AS answer({definitions})"  # noqa: S608 - constants


def answer_query(source: str) -> str:
    """As `table_query`, in the fixed row shape of an answer."""
    return table_query(ANSWER_COLUMNS, source)


def parameter(number: int) -> str:
    """The JSON in a text parameter, as an expression."""
    return f"${number}::pg_catalog.text::pg_catalog.json"


def constant(rows_json: str) -> str:
    """JSON as a constant expression."""
    return dollar_quoted(rows_json) + "::pg_catalog.json"


def derived_table(query: str, *, alias: str) -> str:
    """`query` in place of a call in FROM; `alias` may be empty. The line breaks end a comment at the query's end."""
    return f"(\n{query}\n) AS {alias}" if alias else f"(\n{query}\n)"


def rows_json(rows: Iterable[AnswerRow], *, ascii_only: bool) -> str:
    """The rows of an answer as a JSON array."""
    names = [name for name, _ in ANSWER_COLUMNS]
    return _json([{name: getattr(row, name) for name in names} for row in rows], ascii_only=ascii_only)


def cells_json(columns: Columns, rows: Iterable[Sequence[Cell]], *, ascii_only: bool) -> str:
    """Rows of `columns` as a JSON array."""
    names = [name for name, _ in columns]
    return _json([dict(zip(names, row, strict=True)) for row in rows], ascii_only=ascii_only)


def chosen_query(chosen: Chosen, *, ascii_only: bool) -> str:
    """The statement for a choice: itself in place, a SELECT of the fetched rows otherwise."""
    if chosen.in_place:
        return chosen.sql.strip().rstrip(";")
    if not chosen.columns:
        return "SELECT WHERE false"
    keys = [f"c{number}" for number in range(len(chosen.columns))]
    records = _json([dict(zip(keys, row, strict=True)) for row in chosen.rows], ascii_only=ascii_only)
    columns = ", ".join(
        f"{key}::{_type(column.type)} AS {quoted_name(column.name)}"
        for key, column in zip(keys, chosen.columns, strict=True)
    )
    definitions = ", ".join(f"{key} pg_catalog.text" for key in keys)
    return f"SELECT {columns} FROM pg_catalog.json_to_recordset({constant(records)}) AS r({definitions})"  # noqa: S608


def _type(name: str) -> str:
    """A type's name that cannot be anything else in SQL, and no type of somebody's."""
    if not _TYPE_NAME.fullmatch(name):
        return "pg_catalog.text"
    return name if _FIRST_WORD.split(name)[0] in _WORDED else f"pg_catalog.{name}"


def refused_query(token: str) -> str:
    """A statement that the server refuses at analysis, naming `token`; it needs no privilege, and 25P02 comes first."""
    return f"SELECT '{token}'::pg_catalog.int4"


def _json(value: object, *, ascii_only: bool) -> str:
    # JSON's \u0000 has no text in PostgreSQL.
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
    return re.sub(r"(?<!\\)((?:\\\\)*)\\u0000", r"\1\\ufffd", text)
