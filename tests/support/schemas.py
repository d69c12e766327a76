"""Small schemas, and how a test writes one in a line."""

from __future__ import annotations

import re
from dataclasses import replace

from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind


def table(name: str, columns: str, *references: tuple[str, str, str]) -> Table:
    """`columns`: names separated by spaces, the first one the primary key; `references`: (column, table, column)."""
    names = columns.split()
    return Table(
        "public",
        name,
        TableKind.TABLE,
        tuple(Column(column, "integer" if column.endswith("id") else "text") for column in names),
        primary_key=(names[0],),
        foreign_keys=tuple(ForeignKey((c,), "public", t, (r,)) for c, t, r in references),
    )


_COLUMN = re.compile(r"(\*?)(\w+)(?::(\w+))?(?:->(\w+)\.(\w+))?")


def written(text: str) -> tuple[Table, ...]:
    """Tables as in `orders: *id buyer->people.id note:text; people: *id`: keys have a star, columns are integers."""
    return tuple(map(_written, text.split("; ")))


def _written(line: str) -> Table:
    name, _, words = line.rpartition(": ")
    schema, _, name = name.rpartition(".")
    columns, key, references = [], [], []
    for match in map(_COLUMN.fullmatch, words.split()):
        assert match is not None, line
        star, column, kind, other, referred = match.groups()
        columns.append(Column(column, kind or "integer"))
        key += [column] if star else []
        references += [ForeignKey((column,), "public", other, (referred,), enforced=True)] if other else []
    made = Table(schema or "public", name, TableKind.TABLE, tuple(columns))
    return replace(made, primary_key=tuple(key), foreign_keys=tuple(references))


MUSIC = Snapshot(
    "music",
    ("public",),
    (
        table("concert", "concert_id title year stadium_id", ("stadium_id", "stadium", "stadium_id")),
        table("singer", "singer_id artist_name performer_name country"),
        table(
            "singer_in_concert",
            "entry_id concert_id singer_id",
            ("concert_id", "concert", "concert_id"),
            ("singer_id", "singer", "singer_id"),
        ),
        table("stadium", "stadium_id name capacity"),
    ),
)

SCHOOL = Snapshot(
    "school",
    ("public",),
    (
        table("choir", "choir_id name year members"),
        table("ensemble", "choir_id name year members"),
        table("pupil", "pupil_id name country age"),
        table("zither", "choir_id name year members"),
        table("pupil_country", "pupil_id country", ("pupil_id", "pupil", "pupil_id")),
    ),
)
