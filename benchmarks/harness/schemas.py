"""Schemas as the data's files describe them, and which of a schema a known statement reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.harness.drawing import Item, read_items
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import Column, ColumnKey, ForeignKey, ReadableColumns, Snapshot, Table, TableKind

SPIDER, POOL, DEFOG = "spider/schemas.jsonl", "pool/schemas.jsonl", "defog/schemas.jsonl"
"""Files; no question is about the pool's databases."""


def snapshots(bench: Path, *files: str, schema: str | None = None) -> dict[str, Snapshot]:
    """The databases of the files by name; their tables are in `schema`, or in one that is called as the database."""
    items: dict[str, list[Item]] = defaultdict(list)
    for file in files or (SPIDER,):
        for item in read_items(bench / file):
            items[item["db"]].append(item)
    return {name: snapshot(name, each, schema or name) for name, each in sorted(items.items())}


def snapshot(
    database: str, items: Iterable[Item], schema: str, kind: TableKind = TableKind.TABLE
) -> Snapshot:
    """The schema of these tables."""
    tables = (_table(item, schema, kind) for item in items)
    return Snapshot(database, (schema,), tuple(sorted(tables, key=lambda table: table.name)))


def _table(item: Item, schema: str, kind: TableKind) -> Table:
    return Table(
        schema,
        item["table"],
        kind,
        tuple(
            Column(each["name"], each["type"], description=each.get("description"))
            for each in item["columns"]
        ),
        tuple(item["primary_key"]),
        tuple(_names(item.get("unique_keys", ()))),
        tuple(
            ForeignKey((key["column"],), schema, key["ref_table"], (key["ref_column"],))
            for key in item["foreign_keys"]
        ),
    )


def _names(keys: Sequence[str | Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Keys as tuples of columns, whether the data lists a column or several."""
    for key in keys:
        yield (key,) if isinstance(key, str) else tuple(key)


View = tuple[Snapshot, ReadableColumns]
"""A schema, and what of it an asker may read."""


def wholly_readable(snapshot: Snapshot) -> View:
    """All of it."""
    return snapshot, frozenset((*table.key, column.name) for table, column in snapshot.columns())


def gold_of(item: Item, schema: str) -> frozenset[ColumnKey]:
    """What a question's known statement reads: its tables as a whole, and the columns that it names."""
    tables = {(schema, table, WHOLE_TABLE) for table in item["tables"]}
    return frozenset(tables | {(schema, *column.split(".", 1)) for column in item["columns"]})
