"""The baselines and the imagination's file, on a catalog of two databases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.routing.systems import Bm25, Crush, Imagination
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


def test_the_mean_of_its_tables_and_the_best_of_them_differ() -> None:
    question = ["name and city of customers, and singer"]
    (best,), (mean,) = Bm25(VIEWS).rank(question), Bm25(VIEWS, mean=True).rank(question)
    assert best.tables == mean.tables
    assert best.databases[0] == "shop"


def test_imagined_schemas_are_written_down_and_read_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "crush.jsonl"
    held = Imagination(file)
    assert held.missing(["a?", "b?", "a?"]) == ["a?", "b?"]
    held.keep("a?", "- Singers(SingerID, birthYear)\nnonsense\nVenue (city")
    again = Imagination(file)
    assert again.missing(["a?", "b?"]) == ["b?"]
    assert again.pieces("a?") == [
        "singer singer id birth year",
        "singer singer id",
        "singer birth year",
        "venue city",
        "venue city",
    ]


def test_crush_finds_what_the_question_does_not_name(tmp_path: Path) -> None:
    held = Imagination(tmp_path / "crush.jsonl")
    question = "who performs where?"
    held.keep(question, "singer(singer id)\nconcert(stadium)")
    base = Bm25(VIEWS)
    (found,) = Crush(base, VIEWS, held.pieces).rank([question])
    assert found.databases[0] == "music"
    assert {table for _, table in found.tables[:2]} == {"singer", "concert"}
