"""Schemas as text for a model that follows instructions: a line a column, with all that is known of it.

    table orders (about 12000 rows) -- what customers ordered
      id integer key
      customer_id integer not null -> customer.id
      state text not null ['open', 'paid'] -- open until the money is there

The text of a schema is the same for every question as long as it fits, in the catalog's order, so that services find it
in their prefix caches. Where it does not fit, a list of all tables with their columns, which is as constant, stands
before the likeliest ones in full. What is said of an element is data: on one line, cut, behind `--`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.link.legends import bits
from engine.statement.written import unmarked
from engine.values.elements import WHOLE_NUMBERS, ColumnContent, ColumnFacts
from engine.values.state import Route
from engine.write.schema_text import marks_text, table_name
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey, TableKind, once_per_snapshot

COMMENT = 600
"""Characters of what is said of an element, at most: a legend of codes is of use only whole."""

LABELS = 50
"""Labels of an enum that are listed, at most: with more none is."""

IN_FULL, SHARE = 4_000, 12
"""Characters of the likeliest tables where there is no room for all: so many, or that part of the list before them if
it is more. The prompt's other nine tenths stay in the cache."""

_PLAIN = re.compile(r"(-?\d[\d.:-]*)(?: \d.*)?")
"""A number, a day or a time, or the day of a timestamp."""

_KINDS = {TableKind.VIEW: "view", TableKind.MATERIALIZED_VIEW: "materialized view"}


@dataclass(frozen=True, slots=True)
class Described:
    """The text, and the part of the snapshot that it names.

    `listed`: columns of which all values stand in the text. `full`: tables that are shown in full. `left`: those that
    are not, likeliest first.
    """

    text: str
    shown: Snapshot
    listed: frozenset[ColumnKey] = frozenset()
    full: frozenset[TableKey] = frozenset()
    left: tuple[TableKey, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of columns beside the snapshot."""

    facts: Mapping[ColumnKey, ColumnFacts]
    contents: Mapping[ColumnKey, ColumnContent]
    likely: Mapping[ColumnKey, ColumnKey]


def described(route: Route, room: int, seen: frozenset[TableKey] = frozenset()) -> Described:
    """The schema of `route` in `room` characters: whole, or a list and its likeliest tables. Blocks: in a thread.

    `seen`: tables that were shown in full before, and are not again.
    """
    known = _Known(
        {each.column: each for each in route.told},
        {each.column: each for each in route.contents},
        dict(route.snapshot.proposed or ()),
    )
    texts, whole = _texts(route, known)
    if not seen and len(whole.text) < room:
        return whole
    ordered = [key for key in dict.fromkeys((*route.tables, *texts)) if key in texts and key not in seen]
    begun, shown = _beginning(route.snapshot, room)
    full = _fitting(ordered, texts, min(room - len(begun), max(IN_FULL, len(begun) // SHARE)))
    if shown is None:
        full = _fitting(ordered, texts, room - len(begun))
        shown = replace(
            route.snapshot, tables=tuple(each for each in route.snapshot.tables if each.key in full)
        )
    in_full = "\n".join(text for key, text in texts.items() if key in full)
    text = f"{begun}\n\nThe likeliest of them in full:\n{in_full}"
    left = tuple(key for key in ordered if key not in full)
    return replace(_described(text, shown, known, full), left=left)


_Texts = tuple[tuple[ColumnFacts, ...], Mapping[ColumnKey, ColumnContent], dict[TableKey, str], Described]


@once_per_snapshot
def _written(_snapshot: Snapshot) -> list[_Texts]:
    """Where the texts of its tables are kept, with what they were made of: at most one entry."""
    return []


def _texts(route: Route, known: _Known) -> tuple[dict[TableKey, str], Described]:
    """Each table in full, and all of them; those of the question before where nothing has changed."""
    kept = _written(route.snapshot)
    for told, contents, texts, whole in kept[:1]:
        if told is route.told and contents == known.contents:
            return texts, whole
    made = {table.key: "\n".join(_table(table, route.snapshot, known)) for table in route.snapshot.tables}
    text = _described("\n".join(made.values()), route.snapshot, known, frozenset(made))
    kept[:] = [(route.told, known.contents, made, text)]
    return made, text


def _described(text: str, shown: Snapshot, known: _Known, full: frozenset[TableKey]) -> Described:
    listed = {
        key
        for table, column in shown.columns()
        if table.key in full
        for key in [(*table.key, column.name)]
        if 0 < len(column.labels) <= LABELS or ((facts := known.facts.get(key)) is not None and facts.whole)
    }
    return Described(text, shown, frozenset(listed), full)


def _beginning(snapshot: Snapshot, room: int) -> tuple[str, Snapshot | None]:
    """All tables with their columns, and the snapshot; where that leaves no room the names alone, and None."""
    lines = (
        f"{snapshot.display_name(table)}({', '.join(quote_ident(each.name) for each in table.columns)})"
        for table in snapshot.tables
    )
    text = "All tables, each with its columns:\n" + "\n".join(lines)
    if len(text) + IN_FULL <= room:
        return text, snapshot
    names = "All tables: " + ", ".join(map(snapshot.display_name, snapshot.tables))
    return (names if len(names) <= room // 3 else names[: room // 3].rpartition(",")[0] + ", …"), None


def _fitting(ordered: Sequence[TableKey], texts: Mapping[TableKey, str], room: int) -> frozenset[TableKey]:
    """As many of the first as fit; one at least."""
    kept = set[TableKey]()
    for key in ordered:
        if len(texts[key]) <= room or not kept:
            kept.add(key)
            room -= len(texts[key])
    return frozenset(kept)


def _table(table: Table, snapshot: Snapshot, known: _Known) -> Iterator[str]:
    rows = "" if table.row_estimate is None else f" (about {_rounded(table.row_estimate)} rows)"
    kind = _KINDS.get(table.kind, "table")
    yield f"{kind} {snapshot.display_name(table)}{rows}{_said(table)}"
    keys = {key.columns[0]: key for key in table.foreign_keys if len(key.columns) == 1}
    for column in table.columns:
        key = (*table.key, column.name)
        line = f"  {quote_ident(column.name)} {_type(column)}"
        if table.primary_key == (column.name,):
            line += " key"
        else:
            line += " unique" if (column.name,) in table.unique_keys else ""
            line += "" if column.nullable else " not null"
        if column.name in keys:
            to = keys[column.name]
            line += (
                f" -> {table_name(snapshot, (to.ref_schema, to.ref_table))}.{quote_ident(to.ref_columns[0])}"
            )
        elif key in known.likely:
            to_column = known.likely[key]
            line += f" -> {table_name(snapshot, to_column[:2])}.{quote_ident(to_column[2])} (likely)"
        line += _values(column, known.facts.get(key)) + _held(column, known.contents.get(key))
        yield line + _said(column)
    yield from _constraints(table, snapshot)


def _type(column: Column) -> str:
    """In few words; of a domain what it is over, of a composite type its fields."""
    short = column.type.replace("character varying", "varchar").replace(" without time zone", "")
    if (zoned := short.replace(" with time zone", "")) != short:
        kind = "timestamp" if zoned.startswith("timestamp") else "time"
        short = zoned.replace(kind, f"{kind}tz", 1)
    if column.fields:
        return f"{short} ({', '.join(column.fields)})"
    return f"{short} ({column.domain})" if column.domain and not column.labels else short


def _values(column: Column, facts: ColumnFacts | None) -> str:
    """` ['open', 'paid']` for all values, ` [e.g. 'Graz', 'Wien']` for the commonest, ` [1..90]` for a range."""
    if 0 < len(column.labels) <= LABELS:
        return f" [{', '.join(map(quote_literal, column.labels))}]"
    if facts is None:
        return ""
    if facts.values:
        number = column.type.startswith(WHOLE_NUMBERS)
        written = ", ".join(facts.values if number else map(quote_literal, facts.values))
        return f" [{'' if facts.whole else 'e.g. '}{written}]"
    if facts.least is None or facts.greatest is None:
        return ""
    ends = [found[1] for each in (facts.least, facts.greatest) if (found := _PLAIN.fullmatch(each))]
    return f" [{ends[0]}..{ends[1]}]" if len(ends) == 2 else ""  # noqa: PLR2004 - both


def _held(column: Column, content: ColumnContent | None) -> str:
    """What JSON holds, and which form dates in a text have, as SQL reads it."""
    if content is None or not content.expressions:
        return ""
    name = quote_ident(column.name)
    return f" [{', '.join(each.replace('{}', name, 1) for each in content.expressions)}]"


def _constraints(table: Table, snapshot: Snapshot) -> Iterator[str]:
    """Keys of several columns and checks, on lines of their own."""
    if len(table.primary_key) > 1:
        yield f"  key ({', '.join(map(quote_ident, table.primary_key))})"
    for key in table.foreign_keys:
        if len(key.columns) > 1:
            own, other = (", ".join(map(quote_ident, names)) for names in (key.columns, key.ref_columns))
            yield f"  ({own}) -> {table_name(snapshot, (key.ref_schema, key.ref_table))} ({other})"
    for check in table.checks:
        if len(sql := " ".join(check.sql.split())) <= COMMENT and "#" not in sql:
            yield f"  {sql}"


def _said(element: Table | Column) -> str:
    texts = [marks_text(element), ", ".join(element.synonyms), element.description or ""]
    if isinstance(element, Column) and (set_bits := bits(element)):
        told = ", ".join(f"{each.code} {each.words}" for each in set_bits)
        name = quote_ident(element.name)
        texts.append(f"bits, of which several may be set: {told}; tested as {name} & {set_bits[0].code} <> 0")
    said = unmarked("; ".join(filter(None, texts)), COMMENT)
    return f" -- {said}" if said else ""


def _rounded(rows: int) -> int:
    """To two digits: an estimate."""
    places = max(0, len(str(max(rows, 0))) - 2)
    return round(rows, -places)
