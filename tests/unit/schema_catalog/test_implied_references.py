"""References that names imply, where no foreign key declares them, and the columns that join what none does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from schema_catalog.implied_references import with_implied_references, with_shared_columns
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind


def table(name: str, columns: str, key: str = "", *references: tuple[str, str, str]) -> Table:
    """`columns`: names, each with `:text` or an integer; `references`: (column, table, column)."""
    made = (each.partition(":")[::2] for each in columns.split())
    return Table(
        "public",
        name,
        TableKind.TABLE,
        tuple(Column(column, kind or "integer") for column, kind in made),
        primary_key=(key,) if key else (),
        foreign_keys=tuple(ForeignKey((c,), "public", t, (r,), enforced=True) for c, t, r in references),
    )


def implied(*tables: Table, by: Callable[[Snapshot], Snapshot] = with_implied_references) -> list[str]:
    before = Snapshot("x", ("public",), tables)
    after = by(before)
    found = []
    for old, new in zip(before.tables, after.tables, strict=True):
        assert new.foreign_keys[: len(old.foreign_keys)] == old.foreign_keys
        for key in new.foreign_keys[len(old.foreign_keys) :]:
            assert not key.enforced
            found.append(f"{new.name}.{key.columns[0]} {key.ref_table}.{key.ref_columns[0]}")
    return found


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        # The table whose key the column is.
        (
            [table("ln", "ln_no stat_cd:text"), table("st", "stat_cd:text", "stat_cd")],
            ["ln.stat_cd st.stat_cd"],
        ),
        # The table that the name names, which has no key.
        (
            [
                table("review", "business_id stars"),
                table("business", "business_id city:text"),
                table("tip", "business_id"),
            ],
            ["review.business_id business.business_id", "tip.business_id business.business_id"],
        ),
        (
            [table("city", "state_name:text"), table("state", "state_name:text")],
            ["city.state_name state.state_name"],
        ),
        # By its first letters.
        (
            [
                table("author", "aid"),
                table("writes", "aid pid"),
                table("publication", "pid"),
                table("domain_author", "aid"),
            ],
            ["writes.aid author.aid", "writes.pid publication.pid", "domain_author.aid author.aid"],
        ),
        # By its table's name and `id`.
        (
            [table("location", "restaurant_id"), table("restaurants", "id name:text")],
            ["location.restaurant_id restaurants.id"],
        ),
    ],
)
def test_names_imply_references(tables: list[Table], found: list[str]) -> None:
    assert implied(*tables) == found


@pytest.mark.parametrize(
    "tables",
    [
        # Nobody's own.
        [table("restaurant", "city_name:text"), table("location", "city_name:text")],
        # A name that says nothing.
        [table("a", "id name:text"), table("b", "id name:text", "id")],
        # Types that do not compare.
        [table("review", "business_id:text"), table("business", "business_id")],
        # Two tables with the key.
        [table("a", "part_no", "part_no"), table("b", "part_no", "part_no"), table("c", "part_no")],
        # One foreign key is there already, of the column or between the tables.
        [
            table("team", "team_id", "team_id"),
            table("old", "team_id", "", ("team_id", "league", "lid")),
            table("league", "lid", "lid"),
        ],
        [
            table("flight", "from_id airport_id", "", ("from_id", "airport", "airport_id")),
            table("airport", "airport_id", "airport_id"),
        ],
        [],
    ],
)
def test_what_implies_none(tables: list[Table]) -> None:
    assert implied(*tables) == []


def test_the_same_snapshot_gives_the_same_one() -> None:
    snapshot = Snapshot("x", ("public",), (table("city", "state_id"), table("state", "state_id", "state_id")))
    made = with_implied_references(snapshot)
    assert made is not snapshot
    assert with_implied_references(snapshot) is made
    none = replace(snapshot, tables=snapshot.tables[:1])
    assert with_implied_references(none) is none


MAKER = table("maker", "id name:text", "id")
MODELS = table("model_list", "id maker:text model:text", "id", ("maker", "maker", "id"))
CARS = table("cars", "id model:text weight", "id")


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        # As one of the two tables is called.
        ([MAKER, MODELS, CARS], ["model_list.model cars.model"]),
        # As keys are.
        (
            [table("has", "dorm amenid"), table("dorm_amenity", "amenid name:text")],
            ["has.amenid dorm_amenity.amenid"],
        ),
    ],
)
def test_a_column_of_two_tables_joins_what_no_reference_does(tables: list[Table], found: list[str]) -> None:
    assert implied(*tables, by=with_shared_columns) == found


@pytest.mark.parametrize(
    "tables",
    [
        # Chains of references join them.
        [MAKER, MODELS, replace(CARS, foreign_keys=(ForeignKey(("id",), "public", "model_list", ("id",)),))],
        # Three tables have it.
        [MODELS, CARS, table("tests", "model:text")],
        # Two columns could be meant.
        [table("model_list", "model:text model_no"), table("cars", "model:text model_no")],
        # It is called after neither.
        [table("shop", "state:text"), table("house", "state:text")],
        # Types that do not compare.
        [MODELS, table("cars", "model")],
    ],
)
def test_what_joins_nothing(tables: list[Table]) -> None:
    snapshot = Snapshot("x", ("public",), tuple(tables))
    assert implied(*tables, by=with_shared_columns) == implied(*tables)
    assert with_shared_columns(snapshot) is with_implied_references(snapshot)
