"""The graph of a snapshot's foreign keys."""

from __future__ import annotations

import pytest

from schema_catalog.foreign_keys import Edge, foreign_key_graph
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKey, TableKind

AIRPORT, FLIGHT, SEAT, CREW, LOG = (
    ("public", name) for name in ("airport", "flight", "seat", "crew_member", "log")
)


def _table(name: str, *keys: ForeignKey) -> Table:
    return Table("public", name, TableKind.TABLE, (Column("id", "integer"),), ("id",), foreign_keys=keys)


def _key(column: str, table: str, target: str = "id") -> ForeignKey:
    return ForeignKey((column,), "public", table, (target,))


def _snapshot() -> Snapshot:
    """Seats and crew of flights between two airports; a member has a boss; the log refers to nothing."""
    tables = (
        _table("airport"),
        _table("crew_member", _key("flight", "flight"), _key("boss", "crew_member")),
        _table("flight", _key("origin", "airport"), _key("destination", "airport")),
        _table("log"),
        _table("seat", _key("flight", "flight"), ForeignKey(("row", "no"), "public", "plan", ("row", "no"))),
    )
    return Snapshot("air", ("public",), tables)


def test_edges_are_seen_from_both_ends() -> None:
    graph = foreign_key_graph(_snapshot())
    assert graph.edges(AIRPORT) == (
        Edge(AIRPORT, ("id",), FLIGHT, ("origin",), referring=False),
        Edge(AIRPORT, ("id",), FLIGHT, ("destination",), referring=False),
    )
    assert graph.edges(SEAT)[0] == Edge(SEAT, ("flight",), FLIGHT, ("id",), referring=True)
    assert [edge.referring for edge in graph.edges(CREW)] == [True, True, False]
    assert graph.edges(LOG) == ()


def test_neighbours_are_of_the_snapshot_and_never_the_table_itself() -> None:
    graph = foreign_key_graph(_snapshot())
    assert graph.neighbours(FLIGHT) == (AIRPORT, CREW, SEAT)
    assert graph.neighbours(CREW) == (FLIGHT,)
    assert graph.neighbours(SEAT) == (FLIGHT,)


def test_column_pairs_are_those_of_keys_of_one_column() -> None:
    graph = foreign_key_graph(_snapshot())
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
    graph = foreign_key_graph(_snapshot())
    assert [edge.other for edge in graph.path(sources, goal)] == tables
    assert graph.reachable(sources, goal) is bool(tables)


def test_counterparts_are_the_other_ends_of_every_reference() -> None:
    graph = foreign_key_graph(_snapshot())
    assert graph.counterparts((*FLIGHT, "id")) == {(*CREW, "flight"), (*SEAT, "flight")}
    assert graph.counterparts((*SEAT, "no")) == {("public", "plan", "no")}
    assert graph.counterparts((*LOG, "id")) == frozenset()


def test_the_root_is_what_a_column_refers_to_in_the_end() -> None:
    snapshot = Snapshot(
        "air", (), (_table("a"), _table("b", _key("id", "a")), _table("c", _key("b", "b"), _key("n", "log")))
    )
    graph = foreign_key_graph(snapshot)
    assert graph.root(("public", "c", "b")) == ("public", "a", "id")
    assert graph.root(("public", "c", "n")) == ("public", "log", "id")
    assert graph.root(("public", "a", "id")) == ("public", "a", "id")


def test_two_references_of_a_table_to_one_column_keep_their_own_roots() -> None:
    graph = foreign_key_graph(_snapshot())
    assert graph.root((*FLIGHT, "origin")) == (*FLIGHT, "origin")
    assert graph.root((*FLIGHT, "destination")) == (*FLIGHT, "destination")


def test_a_circle_of_references_ends() -> None:
    snapshot = Snapshot("x", (), (_table("a", _key("id", "b")), _table("b", _key("id", "a"))))
    assert foreign_key_graph(snapshot).root(("public", "a", "id")) == ("public", "b", "id")
