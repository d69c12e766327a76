"""The order of decisions and its constraint, that teacher forcing restores the truth, and what may be meant instead."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.link.nodes import NodeStates
from engine.link.schema_linker import APART, Decision, branching_points, decide
from engine.values.elements import WHOLE_TABLE, BranchingPoint
from engine.values.schema_graph import Graph
from schema_catalog.types import Column, ColumnKey, ForeignKey, Snapshot, Table, TableKind
from tests.support.schemas import MUSIC


def table(name: str, *columns: str, refers: str | None = None) -> Table:
    """`refers`: the table to whose `id` the first column refers."""
    keys = (ForeignKey((columns[0],), "public", refers, ("id",)),) if refers else ()
    made = tuple(Column(column, "integer") for column in columns)
    return Table("public", name, TableKind.TABLE, made, foreign_keys=keys)


SNAPSHOT = Snapshot(
    "shop",
    ("public",),
    (
        table("buyer", "id", "name"),
        table("item", "sale_no", "price", refers="sale"),
        table("sale", "buyer_no", "day", "id", refers="buyer"),
        table("weather", "degrees"),
    ),
)
"""buyer - sale - item, and weather that joins with nothing."""


def key(text: str) -> ColumnKey:
    name, _, column = text.partition(".")
    return ("public", name, column or WHOLE_TABLE)


def nodes_of(snapshot: Snapshot) -> tuple[ColumnKey, ...]:
    return tuple(
        (*table.key, name)
        for table in snapshot.tables
        for name in (WHOLE_TABLE, *(column.name for column in table.columns))
    )


def states(odds: Mapping[str, float], snapshot: Snapshot = SNAPSHOT) -> NodeStates:
    """Log-odds by name, -3 where none are given."""
    nodes = nodes_of(snapshot)
    given = {key(name): value for name, value in odds.items()}
    log_odds = np.array([given.get(node, -3.0) for node in nodes], dtype=np.float32)
    return NodeStates(nodes, log_odds, 1.0)


def order(decisions: tuple[Decision, ...]) -> list[str]:
    return [f"{'+' if each.linked else '-'}{each.element[1]}.{each.element[2]}" for each in decisions]


def test_the_walk_begins_at_the_likeliest_table_and_one_that_joins_with_none_must_be_likelier() -> None:
    found = decide(states({"sale": 2, "sale.day": 1, "buyer": 1, "buyer.name": 4, "item": -1}), SNAPSHOT)
    assert order(found) == [
        "+sale.*", "-sale.buyer_no", "+sale.day", "-sale.id",
        "+buyer.*", "-buyer.id", "+buyer.name",
        "-item.*", "-weather.*",
    ]  # fmt: skip
    near = decide(states({"buyer": 3, "weather": APART - 0.5}), SNAPSHOT)
    assert "-weather.*" in order(near)
    far = decide(states({"buyer": 3, "weather": APART + 0.5}), SNAPSHOT)
    assert "+weather.*" in order(far)
    assert order(decide(states({"weather": -2}), SNAPSHOT))[:2] == ["+weather.*", "-weather.degrees"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[NodeStates, Snapshot, frozenset[ColumnKey]]:
    """A schema of up to six tables that refer to earlier ones, log-odds, and elements that are read."""
    tables = [table("t0", "id", "a0")]
    for number in range(1, draw(st.integers(1, 6))):
        target = draw(st.none() | st.integers(0, number - 1))
        refers = None if target is None else f"t{target}"
        tables.append(table(f"t{number}", f"r{number}", "id", f"a{number}", refers=refers))
    snapshot = Snapshot("any", ("public",), tuple(tables))
    nodes = nodes_of(snapshot)
    odds = draw(st.lists(st.floats(-4, 4, width=32), min_size=len(nodes), max_size=len(nodes)))
    read = draw(st.frozensets(st.sampled_from(nodes)))
    gold = read | {(*node[:2], WHOLE_TABLE) for node in read}
    log_odds = np.array(odds, dtype=np.float32)
    return NodeStates(nodes, log_odds, 1.0), snapshot, gold


@given(cases())
def test_every_table_is_decided_once_and_columns_where_their_table_is_linked(
    case: tuple[NodeStates, Snapshot, frozenset[ColumnKey]],
) -> None:
    given_states, snapshot, _ = case
    found = decide(given_states, snapshot)
    linked = {each.element[:2] for each in found if each.linked and each.element[2] == WHOLE_TABLE}
    expected = {node for node in given_states.nodes if node[2] == WHOLE_TABLE or node[:2] in linked}
    assert len(found) == len({each.element for each in found})
    assert {each.element for each in found} == expected
    odds = dict(zip(given_states.nodes, given_states.log_odds.tolist(), strict=True))
    assert all(odds[each.element] == each.log_odds for each in found)


@given(cases())
def test_a_linked_table_joins_with_one_before_it_or_stands_on_its_own(
    case: tuple[NodeStates, Snapshot, frozenset[ColumnKey]],
) -> None:
    given_states, snapshot, _ = case
    graph = Graph.of(snapshot)
    numbers = {table.key: number for number, table in enumerate(snapshot.tables)}
    before: set[int] = set()
    for each in decide(given_states, snapshot):
        if each.linked and each.element[2] == WHOLE_TABLE:
            number = numbers[each.element[:2]]
            joined = before.intersection(graph.neighbours(number))
            assert joined or not before or each.log_odds > APART
            before.add(number)


@given(cases())
def test_teacher_forcing_restores_the_truth(case: tuple[NodeStates, Snapshot, frozenset[ColumnKey]]) -> None:
    given_states, snapshot, gold = case
    found = decide(given_states, snapshot, gold)
    assert gold <= {each.element for each in found}
    tables = {each.element[:2] for each in found if each.element[2] != WHOLE_TABLE}
    assert tables <= {each[:2] for each in gold if each[2] == WHOLE_TABLE}


ODDS = {
    ("singer", WHOLE_TABLE): 3.0,
    ("singer", "artist_name"): 1.0,
    ("singer", "performer_name"): -0.5,
    ("concert", WHOLE_TABLE): -1.0,
    ("concert", "title"): 4.0,
    ("stadium", "name"): 0.0,
}
"""Of table and column; of all others -5."""


def music_states() -> NodeStates:
    nodes = nodes_of(MUSIC)
    odds = np.array([ODDS.get(node[1:], -5.0) for node in nodes], dtype=np.float32)
    return NodeStates(nodes, odds, 1.0)


def point(element: ColumnKey) -> BranchingPoint:
    (found,) = (
        each
        for each in branching_points(decide(music_states(), MUSIC), music_states())
        if each.element == element
    )
    return found


def test_in_the_place_of_a_linked_column_come_others_that_are_not_by_their_chance() -> None:
    """A column's chance is its table's as well."""
    assert point(("public", "singer", "artist_name")) == BranchingPoint(
        ("public", "singer", "artist_name"),
        linked=True,
        alternatives=(
            ("public", "singer", "performer_name"),
            ("public", "concert", "title"),
            ("public", "singer", "singer_id"),
        ),
    )


def test_in_the_place_of_one_that_is_not_linked_come_the_linked_and_tables_for_tables() -> None:
    found = point(("public", "singer", "performer_name"))
    assert not found.linked
    assert found.alternatives == (("public", "singer", "artist_name"),)
    found = point(("public", "singer", WHOLE_TABLE))
    assert found.alternatives[0] == ("public", "concert", WHOLE_TABLE)
    assert all(element[2] == WHOLE_TABLE for element in found.alternatives)
