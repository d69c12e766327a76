"""A baseline, on a catalog of two databases."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.quality.routing.systems import Bm25
from schema_catalog.types import Column, ReadableColumns, Snapshot, Table, TableKind


def _view(name: str, **tables: Sequence[str]) -> tuple[Snapshot, ReadableColumns]:
    made = tuple(
        Table("public", table, TableKind.TABLE, tuple(Column(column, "text") for column in columns))
        for table, columns in tables.items()
    )
    return Snapshot(name, ("public",), made), frozenset()


VIEWS = [
    _view("music", singer=["singer_id", "birth_year"], concert=["stadium", "year"]),
    _view("shop", orders=["price", "order_date"], customer=["name", "city"], city=["name", "mayor"]),
]


def test_bm25_finds_words_and_ranks_tables_over_databases() -> None:
    (found,) = Bm25(VIEWS).rank(["What is the birth year of every singer?"])
    assert found.databases[0] == "music"
    assert found.tables[0] == ("music", "singer")
    assert set(found.tables) == {(view[0].database, table.name) for view in VIEWS for table in view[0].tables}
    (nothing,) = Bm25(VIEWS).rank(["zebra?"])
    assert len(nothing.tables) == 5
