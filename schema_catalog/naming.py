"""How names are written in SQL.

Owns quoting. The catalog stores names raw, as the server holds them; whoever writes SQL passes through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".\s]+)')

KEYWORDS = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both
    case cast char character check coalesce collate collation column concurrently constraint create cross
    current_catalog current_date current_role current_schema current_time current_timestamp current_user dec
    decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
    freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
    interval into is isnull join json json_array json_arrayagg json_exists json_object json_objectagg
    json_query json_scalar json_serialize json_table json_value lateral leading least left like limit
    localtime localtimestamp merge_action national natural nchar none normalize not notnull null nullif
    numeric offset on only or order out outer overlaps overlay placing position precision primary real
    references returning right row select session_user setof similar smallint some substring symmetric
    system_user table tablesample then time timestamp to trailing treat trim true union unique user using
    values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
    """.split()  # noqa: SIM905  a list of 170 quoted words is no easier to read
)
"""Every keyword of PostgreSQL 18 outside the unreserved class (`pg_get_keywords()`, catcode <> 'U'): the set that the
server's own quote_ident() quotes. An integration test compares it with the server's."""


def is_plain(text: str) -> bool:
    """Whether a text in SQL is one name without quotes, and no keyword."""
    return _PLAIN.match(text.lower()) is not None and text.lower() not in KEYWORDS


def quote_ident(name: str) -> str:
    """`name` as an SQL identifier: bare where that is safe, else in double quotes.

    The rule is that of the server's `quote_ident()`: bare are lower-case ASCII words that no keyword class
    but the unreserved one holds.
    """
    if _PLAIN.match(name) and name not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """`text` as an SQL literal, where `standard_conforming_strings` is on."""
    return "'" + text.replace("'", "''") + "'"


def dotted(names: Iterable[str]) -> str:
    """A name of several parts as SQL writes it, such as `public."Order".id`."""
    return ".".join(map(quote_ident, names))


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, without quotes and with the letters as they stand; none where it is no name."""
    found, position = list[str](), 0
    while match := _PART.match(name, position):
        found.append(match[2] or match[1].replace('""', '"'))
        if match.end() == len(name):
            return tuple(found)
        if name[match.end()] != ".":
            break
        position = match.end() + 1
    return ()
