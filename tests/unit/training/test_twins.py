"""Whether another schema serves a question by its words."""

from __future__ import annotations

import pytest

from benchmarks.quality.routing.folds import Outcome, Placed, Variant
from schema_catalog.types import Snapshot
from tests.support.schemas import table
from training.twins import misses, serves

ITEM = {"id": "q", "db": "shop", "tables": ["customers"], "columns": ["customers.city"]}


def schema(name: str, tables: str, columns: str) -> Snapshot:
    return Snapshot(name, ("public",), (table(tables, columns),))


@pytest.mark.parametrize(
    ("there", "question", "expected"),
    [
        (schema("b", "customer", "customer_id city"), "Which cities do customers live in?", True),
        (schema("b", "customer", "customer_id town"), "Which cities do customers live in?", False),
        (schema("b", "people", "city"), "Which cities do customers live in?", False),
        (schema("b", "people", "city"), "Where do they live?", True),
        (schema("b", "people", "town"), "Where do they live?", False),
    ],
)
def test_a_twin_serves_where_it_holds_what_is_said(there: Snapshot, question: str, *, expected: bool) -> None:
    assert serves(there, ITEM, question) is expected


def test_misses_are_counted_with_those_that_the_picked_database_serves() -> None:
    twin, other = schema("twin", "customer", "city"), schema("other", "singer", "name")
    placed = {name: (Placed(name, 1.0, ()), Placed("shop", 0.5, ())) for name in ("twin", "other")}
    asked = [
        Outcome("q", Variant.PLAIN, "Which cities do customers live in?", "shop", 2, placed[name])
        for name in ("twin", "other")
    ]
    right = Outcome("q", Variant.PLAIN, "Which cities?", "shop", 1, (Placed("shop", 1.0, ()),))
    assert misses([*asked, right], {"q": ITEM}, {"twin": twin, "other": other}) == (2, 1)
