"""The schema graph and its serialisation: links by kind, order of visits, size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.schema_graph import SIBLINGS, Edge, EdgeKind, Graph
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind
from tests.support.graphs import connected
from training.router_batches import serialise


def table(
    name: str, *columns: str, key: str | None = None, refers: dict[str, tuple[str, str]] | None = None
) -> Table:
    """`columns` are `name` or `name type`, of type integer where none is said; `refers`: column → (table, column)."""
    parts = (column.partition(" ") for column in columns)
    made = (Column(bare, kind or "integer") for bare, _, kind in parts)
    keys = (ForeignKey((c,), "public", *(t, (r,))) for c, (t, r) in (refers or {}).items())
    return Table(
        "public", name, TableKind.TABLE, tuple(made), (key,) if key else (), foreign_keys=tuple(keys)
    )


def snapshot(*tables: Table) -> Snapshot:
    return Snapshot("music", ("public",), tables)


def kinds(graph: Graph) -> dict[tuple[int, int], EdgeKind]:
    return {(source, edge.table): edge.kind for source, edges in enumerate(graph.edges) for edge in edges}


def test_a_foreign_key_links_both_ways_and_two_to_one_column_link_each_other() -> None:
    graph = Graph.of(
        snapshot(
            table("state", "state_name text", key="state_name"),
            table("city", "place text", refers={"place": ("state", "state_name")}),
            table("river", "traverse text", refers={"traverse": ("state", "state_name")}),
            table("road", "surface text"),
        )
    )
    assert kinds(graph) == {
        (1, 0): EdgeKind.FOREIGN_PRIMARY,
        (0, 1): EdgeKind.PRIMARY_FOREIGN,
        (2, 0): EdgeKind.FOREIGN_PRIMARY,
        (0, 2): EdgeKind.PRIMARY_FOREIGN,
        (1, 2): EdgeKind.FOREIGN_FOREIGN,
        (2, 1): EdgeKind.FOREIGN_FOREIGN,
    }
    assert graph.edges[1] == (
        Edge(0, EdgeKind.FOREIGN_PRIMARY, ("place",), ("state_name",)),
        Edge(2, EdgeKind.FOREIGN_FOREIGN, ("place",), ("traverse",)),
    )
    assert graph.neighbours(0) == (1, 2)


def test_foreign_keys_to_different_columns_need_the_table_between() -> None:
    graph = Graph.of(
        snapshot(
            table("account", "serial", "iban text", key="serial"),
            table("payment", "payer", refers={"payer": ("account", "serial")}),
            table("transfer", "target text", refers={"target": ("account", "iban")}),
        )
    )
    assert 2 not in graph.neighbours(1)
    assert connected(graph, (0, 1, 2))
    assert not connected(graph, (1, 2))


@pytest.mark.parametrize(
    ("left", "right", "linked"),
    [
        (table("person", "ssn text", key="ssn"), table("job", "ssn text"), True),
        (table("person", "handle text", key="handle"), table("job", "handle character varying(9)"), True),
        (table("person", "handle text"), table("job", "handle text"), False),
        (table("person", "id", key="id"), table("job", "id", key="id"), False),
        (table("singers", "id", key="id"), table("song", "singer_id"), True),
    ],
)
def test_names_and_types_imply_a_join(left: Table, right: Table, *, linked: bool) -> None:
    expected = {(0, 1): EdgeKind.IMPLIED, (1, 0): EdgeKind.IMPLIED} if linked else {}
    assert kinds(Graph.of(snapshot(left, right))) == expected


def test_references_to_what_cannot_be_seen_are_no_links_and_a_hub_links_no_pairs() -> None:
    song = table("song", "performer", refers={"performer": ("singer", "id")})
    assert Graph.of(snapshot(song)).edges == ((),)
    spokes = [table(f"t{n}", "day", refers={"day": ("calendar", "day")}) for n in range(SIBLINGS + 1)]
    graph = Graph.of(snapshot(table("calendar", "day", key="day"), *spokes))
    assert graph.neighbours(0) == tuple(range(1, SIBLINGS + 2))
    assert graph.neighbours(1) == (0,)


def test_depth_first_goes_on_from_the_table_it_is_at() -> None:
    """0-1, 0-2, 1-3: after 1 comes what hangs on 1, not the other neighbour of 0."""
    link = [Edge(n, EdgeKind.IMPLIED, (), ()) for n in range(4)]
    graph = Graph(((link[1], link[2]), (link[0], link[3]), (link[0],), (link[1],)))
    assert serialise(graph, {3, 2, 1, 0}) == (0, 1, 3, 2)
    assert serialise(graph, {3, 2, 0}) == (0, 2, 3)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 12))
    number = st.integers(0, size - 1)
    pairs = draw(st.sets(st.tuples(number, number).filter(lambda pair: pair[0] != pair[1]), max_size=30))
    both = pairs | {(b, a) for a, b in pairs}
    return Graph(
        tuple(
            tuple(Edge(t, EdgeKind.IMPLIED, (), ()) for t in range(size) if (source, t) in both)
            for source in range(size)
        )
    )


@given(graphs(), st.data())
def test_serialising_keeps_every_table_once_and_follows_links(graph: Graph, data: st.DataObject) -> None:
    tables = data.draw(st.sets(st.integers(0, len(graph) - 1)))
    seed = data.draw(st.none() | st.integers(0, 99))

    def order() -> tuple[int, ...]:
        return serialise(graph, tables, None if seed is None else np.random.default_rng(seed))

    visited = order()
    assert visited == order()
    assert sorted(visited) == sorted(tables)
    unlinked = [
        n for n, t in enumerate(visited) if n and not set(graph.neighbours(t)).intersection(visited[:n])
    ]
    assert connected(graph, tables) == (not unlinked)


@given(references=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), named=st.booleans())
def test_every_link_has_its_opposite(*, references: list[tuple[int, int]], named: bool) -> None:
    column = "t{}_id" if named else "c{}"
    tables = [
        table(
            f"t{n}",
            "id",
            *dict.fromkeys(column.format(target) for source, target in references if source == n),
            key="id",
            refers={} if named else {column.format(t): (f"t{t}", "id") for s, t in references if s == n},
        )
        for n in range(10)
    ]
    found = kinds(Graph.of(snapshot(*tables)))
    assert {(b, a) for a, b in found} == set(found)
    assert {(s, t) for s, t in references if s != t} <= set(found)
    assert all(a != b for a, b in found)
