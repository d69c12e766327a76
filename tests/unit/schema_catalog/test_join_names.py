"""Which joins names and types imply, and how surely."""

from __future__ import annotations

import pytest

from schema_catalog.join_names import SURE, candidates, implied_joins
from schema_catalog.types import Snapshot
from tests.support.schemas import written


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
