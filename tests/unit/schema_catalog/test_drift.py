"""Changes between snapshots."""

from __future__ import annotations

from dataclasses import replace

from schema_catalog.drift import Change, Difference, compare
from schema_catalog.types import Column, Snapshot, Table, TableKind

FILM = Table(
    "public", "film", TableKind.TABLE, (Column("id", "integer"), Column("title", "text")), row_estimate=4
)
ORDER = Table("public", "Order", TableKind.TABLE, (Column("id", "integer"),))


def snapshot(*tables: Table) -> Snapshot:
    return Snapshot("d", ("public",), tables)


def test_nothing_changed() -> None:
    assert compare(snapshot(FILM), snapshot(replace(FILM, row_estimate=9))) == ()


def test_the_first_snapshot_adds_everything() -> None:
    assert compare(None, snapshot(ORDER, FILM)) == (
        Change(Difference.ADDED, "table", 'public."Order"', columns=1),
        Change(Difference.ADDED, "table", "public.film", columns=2),
    )


def test_tables_come_and_go() -> None:
    assert compare(snapshot(FILM), snapshot(ORDER)) == (
        Change(Difference.ADDED, "table", 'public."Order"', columns=1),
        Change(Difference.REMOVED, "table", "public.film", columns=2),
    )


def test_columns_come_go_and_change() -> None:
    columns = (Column("id", "bigint", nullable=False, description="key"), Column("name", "text"))
    assert compare(snapshot(FILM), snapshot(replace(FILM, columns=columns))) == (
        Change(Difference.CHANGED, "column", "public.film.id", "integer → bigint, not null now, comment"),
        Change(Difference.ADDED, "column", "public.film.name"),
        Change(Difference.REMOVED, "column", "public.film.title"),
    )


def test_facts_of_the_table_itself() -> None:
    after = replace(FILM, primary_key=("id",), description="shown")
    assert compare(snapshot(FILM), snapshot(after)) == (
        Change(Difference.CHANGED, "table", "public.film", "comment, primary key"),
    )


def test_a_new_label_is_a_change() -> None:
    state = Column("state", "film_state", labels=("OLD", "NEW"))
    before, after = (
        replace(FILM, columns=(each,)) for each in (state, replace(state, labels=("OLD", "NEW", "LOST")))
    )
    assert compare(snapshot(before), snapshot(after)) == (
        Change(Difference.CHANGED, "column", "public.film.state", "labels OLD, NEW → OLD, NEW, LOST"),
    )
