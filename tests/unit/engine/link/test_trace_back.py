"""A branching point comes with what may be meant in its place."""

from __future__ import annotations

import numpy as np

from engine.link.nodes import NodeStates
from engine.link.schema_linker import branching_points, decide
from engine.values.elements import WHOLE_TABLE, BranchingPoint
from schema_catalog.types import ColumnKey
from tests.support.schemas import MUSIC

ODDS = {
    ("singer", WHOLE_TABLE): 3.0,
    ("singer", "artist_name"): 1.0,
    ("singer", "performer_name"): -0.5,
    ("concert", WHOLE_TABLE): -1.0,
    ("concert", "title"): 4.0,
    ("stadium", "name"): 0.0,
}
"""Of table and column; of all others -5."""


def states() -> NodeStates:
    nodes = tuple(
        (*table.key, name)
        for table in MUSIC.tables
        for name in (WHOLE_TABLE, *(column.name for column in table.columns))
    )
    odds = np.array([ODDS.get(node[1:], -5.0) for node in nodes], dtype=np.float32)
    return NodeStates(nodes, odds, 1.0)


def point(element: ColumnKey) -> BranchingPoint:
    (found,) = (
        each for each in branching_points(decide(states(), MUSIC), states()) if each.element == element
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
