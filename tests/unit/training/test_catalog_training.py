"""What training on a catalog is worth: paired differences, and which questions have a twin."""

from __future__ import annotations

from benchmarks.quality.routing.folds import Outcome, Variant
from schema_catalog.types import Snapshot
from tests.support.schemas import table
from training.catalog_training import compared, twinned


def test_a_difference_is_of_the_same_questions() -> None:
    def outcome(database: str, rank: int) -> Outcome:
        return Outcome("q", Variant.PLAIN, "?", database, rank, ())

    before = [outcome("a", 1), outcome("a", 2), outcome("b", 2), outcome("b", 3)]
    after = [outcome("a", 1), outcome("a", 1), outcome("b", 1), outcome("b", 3)]
    assert compared(before, after) == "+50.0 [+50.0, +50.0]"
    assert compared(before[:2], after[:2]) == "+50.0 [+50.0, +50.0]"
    assert compared(before[:1], after[:1]) == "+0.0 [+0.0, +0.0]"


def test_a_twin_is_another_database_that_serves_the_question() -> None:
    item = {"db": "shop", "tables": ["customers"], "columns": ["customers.city"]}
    own, twin = (Snapshot(name, ("public",), (table("customer", "city"),)) for name in ("shop", "mall"))
    assert twinned(item, "Which cities do customers live in?", [own, twin])
    assert not twinned(item, "Which cities do customers live in?", [own])
