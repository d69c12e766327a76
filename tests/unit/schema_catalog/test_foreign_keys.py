"""The graph of a snapshot's foreign keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schema_catalog.foreign_keys import Edge, ForeignKeyGraph, foreign_key_graph
from schema_catalog.types import ForeignKey, Snapshot, TableKey
from tests.support.schemas import written

AIRPORT, FLIGHT, SEAT, CREW, LOG = (
    ("public", name) for name in ("airport", "flight", "seat", "crew_member", "log")
)


def _air() -> ForeignKeyGraph:
    """Seats and crew of flights between two airports; a member has a boss; the log refers to nothing."""
    *tables, seat = written(
        "airport: *id; crew_member: *id flight->flight.id boss->crew_member.id;"
        " flight: *id origin->airport.id destination->airport.id; log: *id; seat: *id flight->flight.id row no"
    )
    plan = ForeignKey(("row", "no"), "public", "plan", ("row", "no"))
    seat = replace(seat, foreign_keys=(*seat.foreign_keys, plan))
    return foreign_key_graph(Snapshot("air", ("public",), (*tables, seat)))


def test_edges_are_seen_from_both_ends() -> None:
    graph = _air()
    assert graph.edges(AIRPORT) == (
        Edge(AIRPORT, ("id",), FLIGHT, ("origin",), referring=False),
        Edge(AIRPORT, ("id",), FLIGHT, ("destination",), referring=False),
    )
    assert graph.edges(SEAT)[0] == Edge(SEAT, ("flight",), FLIGHT, ("id",), referring=True)
    assert [edge.referring for edge in graph.edges(CREW)] == [True, True, False]
    assert graph.edges(LOG) == ()


def test_neighbours_are_other_tables_of_the_snapshot_and_pairs_are_of_keys_of_one_column() -> None:
    graph = _air()
    assert graph.neighbours(FLIGHT) == (AIRPORT, CREW, SEAT)
    assert graph.neighbours(CREW) == (FLIGHT,)
    assert graph.neighbours(SEAT) == (FLIGHT,)
    graph = _air()
    assert graph.column_pairs(FLIGHT, AIRPORT) == [("origin", "id"), ("destination", "id")]
    assert graph.column_pairs(AIRPORT, FLIGHT) == [("id", "origin"), ("id", "destination")]
    assert graph.column_pairs(CREW, CREW) == [("boss", "id"), ("id", "boss")]
    assert graph.column_pairs(SEAT, ("public", "plan")) == []


@pytest.mark.parametrize(
    ("sources", "goal", "tables"),
    [
        ([SEAT], AIRPORT, [FLIGHT, AIRPORT]),
        ([AIRPORT, SEAT], CREW, [FLIGHT, CREW]),
        ([LOG, CREW], FLIGHT, [FLIGHT]),
        ([SEAT], LOG, []),
        ([LOG], LOG, []),
        ([], LOG, []),
    ],
)
def test_the_path_is_the_shortest(sources: list[TableKey], goal: TableKey, tables: list[TableKey]) -> None:
    graph = _air()
    assert [edge.other for edge in graph.path(sources, goal)] == tables
    assert graph.reachable(sources, goal) is bool(tables)


def test_counterparts_are_the_other_ends_of_every_reference() -> None:
    graph = _air()
    assert graph.counterparts((*FLIGHT, "id")) == {(*CREW, "flight"), (*SEAT, "flight")}
    assert graph.counterparts((*SEAT, "no")) == {("public", "plan", "no")}
    assert graph.counterparts((*LOG, "id")) == frozenset()


@pytest.mark.parametrize(
    ("tables", "column", "root"),
    [
        ("a: *id; b: *id->a.id; c: *id b->b.id n->log.id", "c.b", "a.id"),
        ("a: *id; b: *id->a.id; c: *id b->b.id n->log.id", "c.n", "log.id"),
        ("a: *id; b: *id->a.id", "a.id", "a.id"),
        # Two references of a table to one column keep their own roots.
        ("f: *id o->a.id d->a.id; a: *id", "f.o", "f.o"),
        ("f: *id o->a.id d->a.id; a: *id", "f.d", "f.d"),
        # A circle ends.
        ("a: *id->b.id; b: *id->a.id", "a.id", "b.id"),
    ],
)
def test_the_root_is_what_a_column_refers_to_in_the_end(tables: str, column: str, root: str) -> None:
    graph = foreign_key_graph(Snapshot("x", (), written(tables)))
    assert graph.root(("public", *column.split("."))) == ("public", *root.split("."))  # type: ignore[arg-type]
