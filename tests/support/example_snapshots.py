"""The schemas of the library of worked examples as snapshots, read off the lines that a prompt would show."""

from __future__ import annotations

import re

from engine.prompting.example_library import ExampleSchema
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind

_COLUMN = re.compile(r"(?P<name>\w+) (?P<type>\w+)(?P<key> PK)?(?: -> (?P<table>\w+)\.(?P<column>\w+))?")


def snapshot(schema: ExampleSchema) -> Snapshot:
    """The schema as the catalog would hold it."""
    return Snapshot(schema.schema, ("public",), tuple(map(_table, schema.tables)))


def _table(line: str) -> Table:
    name, columns = line.removesuffix(")").split("(")
    found = [match for each in columns.split(", ") if (match := _COLUMN.fullmatch(each))]
    assert len(found) == columns.count(",") + 1, line
    return Table(
        "public",
        name,
        TableKind.TABLE,
        tuple(Column(each["name"], each["type"]) for each in found),
        primary_key=tuple(each["name"] for each in found if each["key"]),
        foreign_keys=tuple(
            ForeignKey((each["name"],), "public", each["table"], (each["column"],))
            for each in found
            if each["table"]
        ),
    )


def definitions(schema: ExampleSchema) -> str:
    """The statements that create the schema's tables."""
    return "".join(f"CREATE TABLE {_definition(line)};" for line in schema.tables)


def _definition(line: str) -> str:
    return re.sub(r"-> (\w+)\.(\w+)", r"REFERENCES \1 (\2)", line).replace(" PK", " PRIMARY KEY")
