"""References and joins that names imply where no foreign key declares them, how surely, and columns that join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from schema_catalog.implied_references import with_implied_references, with_shared_columns
from schema_catalog.join_names import SURE, candidates, implied_joins
from schema_catalog.types import Snapshot
from tests.support.schemas import written


def implied(tables: str, by: Callable[[Snapshot], Snapshot] = with_implied_references) -> list[str]:
    before = Snapshot("x", ("public",), written(tables) if tables else ())
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
        ("ln: ln_no stat_cd:text; st: *stat_cd:text", ["ln.stat_cd st.stat_cd"]),
        # The table that the name names, which has no key.
        (
            "review: business_id stars; business: business_id city:text; tip: business_id",
            ["review.business_id business.business_id", "tip.business_id business.business_id"],
        ),
        ("city: state_name:text; state: state_name:text", ["city.state_name state.state_name"]),
        # By its first letters.
        (
            "author: aid; writes: aid pid; publication: pid; domain_author: aid",
            ["writes.aid author.aid", "writes.pid publication.pid", "domain_author.aid author.aid"],
        ),
        # By its table's name and `id`.
        ("location: restaurant_id; restaurants: id name:text", ["location.restaurant_id restaurants.id"]),
    ],
)
def test_names_imply_references(tables: str, found: list[str]) -> None:
    assert implied(tables) == found


@pytest.mark.parametrize(
    "tables",
    [
        # Nobody's own.
        "restaurant: city_name:text; location: city_name:text",
        # A name that says nothing.
        "a: id name:text; b: *id name:text",
        # Types that do not compare.
        "review: business_id:text; business: business_id",
        # Two tables with the key.
        "a: *part_no; b: *part_no; c: part_no",
        # One foreign key is there already, of the column or between the tables.
        "team: *team_id; old: team_id->league.lid; league: *lid",
        "flight: from_id->airport.airport_id airport_id; airport: *airport_id",
        "",
    ],
)
def test_what_implies_none(tables: str) -> None:
    assert implied(tables) == []


def test_the_same_snapshot_gives_the_same_one() -> None:
    snapshot = Snapshot("x", ("public",), written("city: state_id; state: *state_id"))
    made = with_implied_references(snapshot)
    assert made is not snapshot
    assert with_implied_references(snapshot) is made
    none = replace(snapshot, tables=snapshot.tables[:1])
    assert with_implied_references(none) is none


MODELS = "model_list: *id maker:text->maker.id model:text"
CARS = "cars: *id model:text weight"


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        # As one of the two tables is called.
        (f"maker: *id name:text; {MODELS}; {CARS}", ["model_list.model cars.model"]),
        # As keys are.
        ("has: dorm amenid; dorm_amenity: amenid name:text", ["has.amenid dorm_amenity.amenid"]),
    ],
)
def test_a_column_of_two_tables_joins_what_no_reference_does(tables: str, found: list[str]) -> None:
    assert implied(tables, with_shared_columns) == found


@pytest.mark.parametrize(
    "tables",
    [
        # Chains of references join them.
        f"maker: *id name:text; {MODELS}; cars: *id->model_list.id model:text weight",
        # Three tables have it.
        f"{MODELS}; {CARS}; tests: model:text",
        # Two columns could be meant.
        "model_list: model:text model_no; cars: model:text model_no",
        # It is called after neither.
        "shop: state:text; house: state:text",
        # Types that do not compare.
        f"{MODELS}; cars: model",
    ],
)
def test_what_joins_nothing(tables: str) -> None:
    snapshot = Snapshot("x", ("public",), written(tables))
    assert implied(tables, with_shared_columns) == implied(tables)
    assert with_shared_columns(snapshot) is with_implied_references(snapshot)


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        # The table's name and its key's kind, also where they are one word, or a number counts them.
        ("customers: id name:text; orders: id customer_id", {"orders.customer_id customers.id"}),
        ("country: *code:text; city: countrycode:text", {"city.countrycode country.code"}),
        ("club: club_id; game: club_id_2", {"game.club_id_2 club.club_id"}),
        # In a part that the other table has.
        (
            "station: id; trip: start_station_id end_station_id",
            {"trip.start_station_id station.id", "trip.end_station_id station.id"},
        ),
        ("airports: *apid; routes: src_apid", {"routes.src_apid airports.apid"}),
        # Of two, the one of the same family of tables.
        ("pools: id; lb_pools: id; lb_members: pool_id", {"lb_members.pool_id pools.id"}),
        # Short for it.
        ("kd: kdnr name:text; auf: aufnr kdnr", {"auf.kdnr kd.kdnr"}),
        ("customers: id; ord: cust_id", {"ord.cust_id customers.id"}),
        # Either may be the key, or neither; another type; the table's own.
        ("a: customer_no; b: customer_no", set()),
        ("customers: id; orders: customer_id:text", set()),
        ("node: id parent_node_id", set()),
        ("customers: id; orders: id name:text; x: name:text", set()),
        # A word that a longer one begins with is another.
        ("votes: id; polls: vote_type_id", set()),
    ],
)
def test_names_imply(tables: str, found: set[str]) -> None:
    joins = implied_joins(Snapshot("x", ("public",), written(tables)))
    assert {f"{'.'.join(each.column[1:])} {'.'.join(each.referred[1:])}" for each in joins} == found


def test_the_same_schema_goes_first_and_what_is_not_sure_is_for_values_to_bear_out() -> None:
    tables = written("a.customers: id; a.orders: customer_id; b.customers: id; b.orders: customer_id")
    found = implied_joins(Snapshot("x", ("a",), tables))
    assert {(each.column[0], each.referred[0]) for each in found} == {("a", "a"), ("b", "b")}
    found = candidates(Snapshot("x", ("public",), written("a: customer_no; b: customer_no")))
    assert {(each.column[1], each.referred[1]) for each in found} == {("a", "b"), ("b", "a")}
    assert all(each.strength < SURE for each in found)
