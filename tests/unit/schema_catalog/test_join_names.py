"""Which joins names and types imply, and how surely."""

from __future__ import annotations

import pytest

from schema_catalog.join_names import SURE, candidates, implied_joins
from schema_catalog.types import Column, Snapshot, Table, TableKind


def table(name: str, columns: str, key: str = "", schema: str = "public") -> Table:
    """`columns`: names, each with `:text` or an integer."""
    made = (each.partition(":")[::2] for each in columns.split())
    return Table(
        schema,
        name,
        TableKind.TABLE,
        tuple(Column(column, kind or "integer") for column, kind in made),
        primary_key=(key,) if key else (),
    )


def implied(*tables: Table) -> set[str]:
    found = implied_joins(Snapshot("x", ("public",), tables))
    return {f"{'.'.join(each.column[1:])} {'.'.join(each.referred[1:])}" for each in found}


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        # The table's name and its key's kind, also where they are one word, or a number counts them.
        (
            [table("customers", "id name:text"), table("orders", "id customer_id")],
            ["orders.customer_id customers.id"],
        ),
        (
            [table("country", "code:text", "code"), table("city", "countrycode:text")],
            ["city.countrycode country.code"],
        ),
        ([table("club", "club_id"), table("game", "club_id_2")], ["game.club_id_2 club.club_id"]),
        # In a part that the other table has.
        (
            [table("station", "id"), table("trip", "start_station_id end_station_id")],
            ["trip.start_station_id station.id", "trip.end_station_id station.id"],
        ),
        (
            [table("airports", "apid", "apid"), table("routes", "src_apid")],
            ["routes.src_apid airports.apid"],
        ),
        # Of two, the one of the same family of tables.
        (
            [table("pools", "id"), table("lb_pools", "id"), table("lb_members", "pool_id")],
            ["lb_members.pool_id pools.id"],
        ),
        # Short for it.
        ([table("kd", "kdnr name:text"), table("auf", "aufnr kdnr")], ["auf.kdnr kd.kdnr"]),
        ([table("customers", "id"), table("ord", "cust_id")], ["ord.cust_id customers.id"]),
        # Either may be the key, or neither; another type; the table's own.
        ([table("a", "customer_no"), table("b", "customer_no")], []),
        ([table("customers", "id"), table("orders", "customer_id:text")], []),
        ([table("node", "id parent_node_id")], []),
        ([table("customers", "id"), table("orders", "id name:text"), table("x", "name:text")], []),
        # A word that a longer one begins with is another.
        ([table("votes", "id"), table("polls", "vote_type_id")], []),
    ],
)
def test_names_imply(tables: list[Table], found: list[str]) -> None:
    assert implied(*tables) == set(found)


def test_a_table_of_the_same_schema_goes_first() -> None:
    tables = [table(name, columns, schema=schema) for schema in ("a", "b") for name, columns in SHOP]
    found = implied_joins(Snapshot("x", ("a",), tuple(tables)))
    assert {(each.column[0], each.referred[0]) for each in found} == {("a", "a"), ("b", "b")}


SHOP = (("customers", "id"), ("orders", "customer_id"))


def test_what_is_not_sure_is_a_candidate_for_values_to_bear_out() -> None:
    tables = (table("a", "customer_no"), table("b", "customer_no"))
    found = candidates(Snapshot("x", ("public",), tables))
    assert {(each.column[1], each.referred[1]) for each in found} == {("a", "b"), ("b", "a")}
    assert all(each.strength < SURE for each in found)
