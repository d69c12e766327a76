"""A snapshot as tables on a server, and rows for them that a seed decides."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from psycopg import Connection, sql

from schema_catalog.types import Column, Snapshot, Table, TableKey, TableKind

Row = tuple[object, ...]

ROWS = "_rows"
"""After the name of the table behind a view."""

TEXTS: Mapping[str, Sequence[str | None]] = {
    "title": ("x", "y", "A x", "Wembley", None),
    "year": ("2014", "2015", "3", None),
    "country": ("Kenya", "France", "france", None),
    "artist_name": ("Ann", "France", "Bo", None),
    "name": ("Wembley", "WEMBLEY", "Oval", None),
    "isofficial": ("T", "F", None),
    "dpt_cd": tuple(map(str, range(1, 17))),
    "due": ("03.05.2026", "28.05.2026", "01.06.2026", None),
    "first_name": ("Ann", "Bo", None),
    "last_name": ("Ann", "Cox", None),
    "dpt_nm": ("Sales", "Legal", None),
    "capacity": ("3", "1,200", "12 km", "90", "n/a", None),
}

CHOICES: Mapping[str, tuple[object, ...]] = {
    "boolean": (True, False, None),
    "daterange": ("[2026-03-01,2026-04-01)", "[2025-01-01,)", "empty", None),
    "text[]": ("{red,blue}", "{blue}", "{}", None),
    "jsonb": ('{"heat": 3, "state": "on"}', '{"state": "off"}', None),
}

DAYS = (
    *("2018-12-31", "2019-01-01", "2019-06-15", "2019-10-15", "2020-01-01"),
    *("2020-10-01", "2020-12-05", "2020-12-31", "2021-01-01"),
)

_KEYS = range(1, 17)
_DANGLING = 99


def create(connection: Connection[object], snapshot: Snapshot) -> None:
    """Makes the snapshot's tables; foreign keys only where they are enforced."""
    for schema in sorted({table.schema for table in snapshot.tables} - {"public"}):
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    for _, column in snapshot.columns():
        if column.labels:
            labels = sql.SQL(", ").join(map(sql.Literal, column.labels))
            connection.execute(sql.SQL("CREATE TYPE {} AS ENUM ({})").format(sql.SQL(column.type), labels))  # type: ignore[arg-type]  # a type of our own snapshots
    for table in snapshot.tables:
        definitions = sql.SQL(", ").join([*map(_definition, table.columns), *_primary_key(table)])
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(_stored(table), definitions))
        if table.kind is TableKind.VIEW:
            view = sql.SQL("CREATE VIEW {} AS TABLE {}").format(sql.Identifier(*table.key), _stored(table))
            connection.execute(view)
    for table in snapshot.tables:
        for reference in table.foreign_keys:
            if reference.enforced:
                connection.execute(
                    sql.SQL("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} ({})").format(
                        _stored(table),
                        sql.Identifier(*reference.columns),
                        sql.Identifier(reference.ref_schema, reference.ref_table),
                        sql.Identifier(*reference.ref_columns),
                    )
                )


def _definition(column: Column) -> sql.Composed:
    definition = sql.SQL("{} {}").format(sql.Identifier(column.name), sql.SQL(column.type))  # type: ignore[arg-type]  # a type of our own snapshots
    return definition if column.nullable else definition + sql.SQL(" NOT NULL")


def _primary_key(table: Table) -> Iterator[sql.Composed]:
    if table.primary_key:
        columns = sql.SQL(", ").join(map(sql.Identifier, table.primary_key))
        yield sql.SQL("PRIMARY KEY ({})").format(columns)


def _stored(table: Table) -> sql.Identifier:
    return sql.Identifier(table.schema, table.name + (ROWS if table.kind is TableKind.VIEW else ""))


def fill(connection: Connection[object], snapshot: Snapshot, seed: int) -> None:
    """Replaces all rows by those of `seed`, at most 16 a table, NULL here and there where a column allows it."""
    made = rows(snapshot, random.Random(seed))  # noqa: S311 - rows for tests
    order = list(_parents_first(snapshot))
    with connection.transaction():
        for table in reversed(order):
            connection.execute(sql.SQL("DELETE FROM {}").format(_stored(table)))
        for table in order:
            if given := made[table.key]:
                literals = sql.SQL(", ").join(
                    sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Literal, row))) for row in given
                )
                connection.execute(sql.SQL("INSERT INTO {} VALUES {}").format(_stored(table), literals))


def rows(snapshot: Snapshot, chance: random.Random) -> dict[TableKey, list[Row]]:
    """Rows of each table, in the order of its columns; the first one tells them apart."""
    made: dict[TableKey, list[Row]] = {}
    for table in _parents_first(snapshot):
        keys = chance.sample(_KEYS, chance.choice((0, 5, len(_KEYS), len(_KEYS), len(_KEYS))))
        known = {**made, table.key: [(key,) for key in keys]}
        drawn = [(key, *(_value(table, c, known, chance) for c in table.columns[1:])) for key in keys]
        required = [place for place, column in enumerate(table.columns) if not column.nullable]
        made[table.key] = [row for row in drawn if all(row[place] is not None for place in required)]
    return made


def _value(
    table: Table, column: Column, made: Mapping[TableKey, Sequence[Row]], chance: random.Random
) -> object:
    """A value that the column's foreign key allows; None as well where the table that it refers to is empty."""
    if column.labels:
        return chance.choice((*column.labels, None))
    if column.type == "text":
        return chance.choice(TEXTS.get(column.name, ("x", "y", None)))
    if column.type in CHOICES:
        return chance.choice(CHOICES[column.type])
    if column.type == "date":
        return date.fromisoformat(chance.choice(DAYS))
    if column.type.startswith("timestamp"):
        return datetime.fromisoformat(chance.choice(DAYS)) + timedelta(hours=chance.choice((0, 12)))
    reference = next((key for key in table.foreign_keys if key.columns == (column.name,)), None)
    values: list[object] = list(_KEYS)
    if reference is not None:
        values = [row[0] for row in made[reference.ref_schema, reference.ref_table]]
        values += [] if reference.enforced else [_DANGLING]
    return chance.choice([*values, *([None] if column.nullable or not values else [])])


def _parents_first(snapshot: Snapshot) -> Iterator[Table]:
    """The tables, each behind the others that it refers to; without circles."""
    left = list(snapshot.tables)
    while left:
        names = {table.key for table in left}
        table = next(
            each
            for each in left
            if not any((key.ref_schema, key.ref_table) in names - {each.key} for key in each.foreign_keys)
        )
        left.remove(table)
        yield table
