"""The order in which masked schemas are explored."""

from __future__ import annotations

from engine.values.conditions import Condition, Hardness, Operator, StatementKind
from engine.values.elements import Entity
from engine.write.masks import MaskSearch, Node
from schema_catalog.types import ColumnKey

HOME = ("public", "student", "birthplace")
ORIGIN = ("public", "student", "origin")
ROLL = ("public", "student", "roll_num")
TABLE = ("public", "student", "*")
ELEMENTS = frozenset({HOME, ORIGIN, ROLL, TABLE})


def entity(text: str, **similarities: float) -> Entity:
    keys = {"home": HOME, "origin": ORIGIN, "roll": ROLL, "table": TABLE}
    return Entity(text, {keys[name]: value for name, value in similarities.items()})


HOMETOWN = entity("hometown", home=0.7, origin=0.6, roll=0.1, table=0.2)
NUMBER = entity("roll number", home=0.1, origin=0.1, roll=0.9, table=0.2)


def search(budget: int = 10, near: float = 0.7, conditions: tuple[Condition, ...] = ()) -> MaskSearch:
    return MaskSearch((HOMETOWN, NUMBER), ELEMENTS, budget, conditions, near, worth=0.0)


def masks(nodes: list[Node]) -> list[set[ColumnKey]]:
    return [set(node.mask) for node in nodes]


def test_the_column_with_an_alternative_is_masked_first_and_none_without_which_an_entity_has_none() -> None:
    tried = search(near=0.0)
    (root,) = tried.take(1)
    tried.expand(root, {HOME, ROLL})
    assert masks(tried.take(2)) == [{HOME}, {ROLL}]
    tried = search(near=0.7)
    (root,) = tried.take(1)
    tried.expand(root, {HOME, ROLL})
    assert masks(tried.take(5)) == [{HOME}]


def test_the_same_mask_is_explored_once_and_none_of_what_stands_for_a_phrase_less_well() -> None:
    tried = search(near=0.0)
    (root,) = tried.take(1)
    tried.expand(root, {HOME, ORIGIN})
    for node in tried.take(2):
        tried.expand(node, {HOME, ORIGIN} - node.mask)
    assert masks(tried.take(5)) == [{HOME, ORIGIN}]
    student = entity("student", table=0.9, home=0.4, origin=0.39, roll=0.3)
    tried = MaskSearch((student,), ELEMENTS, 10)
    (root,) = tried.take(1)
    tried.expand(root, {HOME})
    assert tried.take(1) == [], "birthplace is like a student, but it is the table that is meant"


def test_the_budget_ends_the_search_and_so_does_a_schema_of_which_nothing_is_left() -> None:
    tried = search(budget=2, near=0.0)
    (root,) = tried.take(1)
    tried.expand(root, {HOME, ORIGIN, ROLL})
    assert len(tried.take(5)) == 1
    assert tried.take(5) == []
    tried = search(near=0.0)
    (root,) = tried.take(1)
    tried.expand(root, {TABLE})
    assert tried.take(1) == [], "nothing of the schema is left"


def test_conditions_and_masks_share_the_budget_the_best_first() -> None:
    likely, unlikely = (
        Condition(StatementKind(frozenset({operator}), Hardness.EASY), probability)
        for operator, probability in ((Operator.COUNT, 0.8), (Operator.GROUP, 0.3))
    )
    tried = search(budget=4, conditions=(likely, unlikely))
    (root,) = tried.take(1)
    assert root == Node(frozenset(), 1.0)
    tried.expand(root, {HOME})
    nodes = tried.take(5)
    assert [(set(node.mask), node.condition) for node in nodes] == [
        (set(), likely),
        ({HOME}, None),
        (set(), unlikely),
    ]


def test_a_schema_asked_for_by_its_mask_costs_a_call_and_comes_once() -> None:
    tried = search(budget=2)
    tried.take(1)
    assert masks(tried.without(frozenset({HOME}))) == [{HOME}]
    assert tried.without(frozenset({ORIGIN})) == [], "the budget is spent"
    more = search()
    assert more.without(frozenset()) == [], "nothing is left out"
    assert masks(more.without(frozenset({HOME}))) == [{HOME}]
    assert more.without(frozenset({HOME})) == [], "it was asked for"
