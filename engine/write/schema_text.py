"""A schema as text for a prompt: constant for a snapshot, so that the model's prefix cache serves all its questions.

One short line a table: a first question costs mostly the prompt's tokens. Comments and synonyms are data: cut short
and quoted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.question.comments import legend
from engine.values.elements import WHOLE_NUMBERS
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import Column, ColumnKey, Sensitivity, Snapshot, Table, TableKey

COMMENT_LENGTH = 60
LEGEND_LENGTH = 400
"""Characters of a comment that explains codes, and of any other where the whole schema has room, at most."""

LISTED, LISTED_LENGTH = 16, 40
"""Values of a column that are listed at most, and characters of each: with a longer one none is."""

CHARACTERS = 9_000
"""Characters of schema that a prompt holds at most: about 3,000 tokens."""

PART = 3_000
"""Of a larger schema, at most: it is read anew with each question."""

WIDE, COLUMNS = 1_000, 20
"""Characters of a table that is shown whole even then, and columns of a wider one beside its keys."""

_NOTHING: Mapping[ColumnKey, float] = MappingProxyType({})

_SHORT_TYPES = {
    "character varying": "text",
    "character": "text",
    "numeric": "numeric",
    "boolean": "bool",
    **{f"{kind} with{out} time zone": kind for kind in ("timestamp", "time") for out in ("", "out")},
    "double precision": "float",
    "real": "float",
    **dict.fromkeys(WHOLE_NUMBERS, "int"),
}


def schema_text(
    snapshot: Snapshot, ranked: Sequence[TableKey], near: Mapping[ColumnKey, float] = _NOTHING
) -> tuple[str, Snapshot]:
    """The schema, one line a table, and the part of the snapshot that the lines show.

    A schema that fits is shown whole and in catalog order for every question, so that it is the same text
    each time. Of a larger one the best tables of `ranked` are shown, as many as fit; of a wide table its keys and the
    columns that are nearest to the question. `near`: how near each is.
    """
    for comment in (LEGEND_LENGTH, COMMENT_LENGTH):
        texts = {table.key: table_text(snapshot, table, comment) for table in snapshot.tables}
        if sum(map(len, texts.values())) <= CHARACTERS:
            return "\n".join(texts.values()), snapshot
    tables = {table.key: table for table in snapshot.tables}
    for key, table in tables.items():
        if len(texts[key]) > WIDE:
            tables[key] = _narrowed(table, near)
            texts[key] = table_text(snapshot, tables[key])
    kept = _fitting(texts, ranked)
    shown = replace(snapshot, tables=tuple(tables[key] for key in tables if key in kept))
    return "\n".join(texts[table.key] for table in shown.tables), shown


def _narrowed(table: Table, near: Mapping[ColumnKey, float]) -> Table:
    """The table with its keys, and as many of its columns as are shown of a wide one."""
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    ordered = sorted(table.columns, key=lambda each: -near.get((*table.key, each.name), -1.0))
    kept = keys | {each.name for each in ordered[:COLUMNS]}
    columns = tuple(each for each in table.columns if each.name in kept)
    return replace(table, columns=columns, partial=table.partial or len(columns) < len(table.columns))


def table_text(snapshot: Snapshot, table: Table, comment: int = COMMENT_LENGTH) -> str:
    """One table: `name(column type in ('label', …) PK -> table.column "marks; synonyms; comment", …) "comment"`.

    Behind a reference that is proposed stands `(likely)`. `comment`: characters of a comment at most.
    """
    references = {
        key.columns[0]: (key.ref_schema, key.ref_table, key.ref_columns[0])
        for key in table.foreign_keys
        if len(key.columns) == 1
    }
    likely = {one[2]: other for one, other in snapshot.proposed or () if one[:2] == table.key}
    columns = []
    for column in table.columns:
        text = f"{quote_ident(column.name)} {short_type(column)}{listed(column.labels)}"
        if table.primary_key == (column.name,):
            text += " PK"
        if (referred := references.get(column.name, likely.get(column.name))) is not None:
            text += f" -> {table_name(snapshot, referred[:2])}.{quote_ident(referred[2])}"
            text += "" if column.name in references else " (likely)"
        columns.append(text + _comment(column, comment))
    return f"{snapshot.display_name(table)}({', '.join(columns)}){_comment(table, comment)}"


def short_type(column: Column) -> str:
    """The column's type in one word, without length and precision."""
    name, _, behind = column.type.partition("(")
    return _SHORT_TYPES.get(name + behind.partition(")")[2], column.type)


def listed(values: Sequence[str]) -> str:
    """` in ('NEW', 'CLOSED')`; nothing of no values, of many, or of long ones."""
    if not 0 < len(values) <= LISTED or max(map(len, values)) > LISTED_LENGTH:
        return ""
    return f" in ({', '.join(map(quote_literal, values))})"


def _fitting(texts: dict[TableKey, str], ranked: Sequence[TableKey]) -> Collection[TableKey]:
    kept: set[TableKey] = set()
    room = PART
    for key in (*ranked, *texts):
        if key in texts and key not in kept and len(texts[key]) <= room:
            kept.add(key)
            room -= len(texts[key])
    return kept


def table_name(snapshot: Snapshot, key: TableKey) -> str:
    """As it is written in SQL; one that `snapshot` does not hold with its schema."""
    table = next((table for table in snapshot.tables if table.key == key), None)
    return ".".join(map(quote_ident, key)) if table is None else snapshot.display_name(table)


def _comment(element: Table | Column, most: int) -> str:
    said = element.description or ""
    length = LEGEND_LENGTH if isinstance(element, Column) and legend(said) else most
    marks = (_short(each) for each in (marks_text(element), ", ".join(element.synonyms)))
    quoted = "; ".join(filter(None, (*marks, _short(said, length))))
    return f' "{quoted}"' if quoted else ""


def marks_text(element: Table | Column) -> str:
    """What is said of an element beside words: status, mask, declared key, unit and time zone; empty for nothing."""
    marks = element.attributes
    if marks is None:
        return ""
    zone = marks.time_zone and f"time zone {marks.time_zone}"
    unit = marks.unit and f"in {marks.unit}"
    key = marks.key and "unique"
    masked = "masked: for joins by key alone" if marks.sensitivity is Sensitivity.MASKED else ""
    return ", ".join(filter(None, (marks.status, masked, key, unit, zone)))


def _short(text: str, length: int = COMMENT_LENGTH) -> str:
    return " ".join(text.split()).replace('"', "'")[:length]
