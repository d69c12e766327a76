"""Joins that the schema's foreign keys complete."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine.rewrite.rules.joins import complete_joins

from schema_catalog.types import ForeignKey, Snapshot, Table
from tests.support.schemas import MUSIC, table

CASES = {
    "nothing is missing": (
        "SELECT singer.country FROM singer",
        "SELECT singer.country FROM singer",
    ),
    "one step": (
        "SELECT stadium.name FROM concert",
        "SELECT stadium.name FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id",
    ),
    "two steps through a table in between": (
        "SELECT singer.country FROM concert",
        "SELECT singer.country FROM concert"
        " JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id"
        " JOIN singer ON singer_in_concert.singer_id = singer.singer_id",
    ),
    "from an aliased table": (
        "SELECT stadium.name FROM concert AS c",
        "SELECT stadium.name FROM concert AS c JOIN stadium ON c.stadium_id = stadium.stadium_id",
    ),
    "named in WHERE alone": (
        "SELECT COUNT(*) FROM concert WHERE stadium.name = 'Oval'",
        "SELECT COUNT(*) FROM concert JOIN stadium ON concert.stadium_id = stadium.stadium_id"
        " WHERE stadium.name = 'Oval'",
    ),
    "inside a subquery": (
        "SELECT singer.country FROM singer WHERE singer.singer_id IN (SELECT singer_in_concert.singer_id"
        " FROM singer_in_concert WHERE concert.year = '2014')",
        "SELECT singer.country FROM singer WHERE singer.singer_id IN (SELECT singer_in_concert.singer_id"
        " FROM singer_in_concert JOIN concert ON singer_in_concert.concert_id = concert.concert_id"
        " WHERE concert.year = '2014')",
    ),
    "a correlated reference is not missing": (
        "SELECT stadium.name FROM stadium WHERE EXISTS (SELECT 1 FROM concert"
        " WHERE concert.stadium_id = stadium.stadium_id)",
        "SELECT stadium.name FROM stadium WHERE EXISTS (SELECT 1 FROM concert"
        " WHERE concert.stadium_id = stadium.stadium_id)",
    ),
    "what lies between is named as well": (
        "SELECT singer.country, singer_in_concert.entry_id FROM concert",
        "SELECT singer.country, singer_in_concert.entry_id FROM concert"
        " JOIN singer_in_concert ON concert.concert_id = singer_in_concert.concert_id"
        " JOIN singer ON singer_in_concert.singer_id = singer.singer_id",
    ),
    "a query of WITH is no table": (
        "WITH stadium AS (SELECT 1 AS name) SELECT stadium.name FROM concert",
        "WITH stadium AS (SELECT 1 AS name) SELECT stadium.name FROM concert",
    ),
    "nothing refers to a query of WITH": (
        "WITH concert AS (SELECT 1 AS stadium_id) SELECT stadium.name FROM concert",
        "WITH concert AS (SELECT 1 AS stadium_id) SELECT stadium.name FROM concert",
    ),
    "no text that can be parsed": ("SELECT FROM WHERE (", "SELECT FROM WHERE ("),
}


@pytest.mark.parametrize("name", CASES)
def test_complete_joins(name: str) -> None:
    sql, completed = CASES[name]
    assert complete_joins(sql, MUSIC) == completed


def of(schema: str, name: str, columns: str, *references: tuple[str, str, str, str]) -> Table:
    """`columns`: the first one is the primary key; `references`: (column, schema, table, column)."""
    keys = tuple(ForeignKey((c,), to, t, (r,)) for c, to, t, r in references)
    return replace(table(name, columns), schema=schema, foreign_keys=keys)


SHOP = Snapshot(
    "shop",
    ("public",),
    (
        of("archive", "orders", "id total closed", ("id", "public", "clients", "id")),
        of("archive", "refunds", "id order_id", ("order_id", "archive", "orders", "id")),
        of("public", "clients", "id email"),
        of("public", "orders", "id total client_id", ("client_id", "public", "clients", "id")),
        of("public", "payments", "id order_id", ("order_id", "public", "orders", "id")),
    ),
)

TWO_SCHEMAS = {
    "the one that the path leads through": (
        "SELECT clients.email FROM payments",
        "SELECT clients.email FROM payments JOIN orders ON payments.order_id = orders.id"
        " JOIN clients ON orders.client_id = clients.id",
    ),
    "from the one that is read": (
        "SELECT clients.email FROM archive.orders",
        "SELECT clients.email FROM archive.orders JOIN clients ON orders.id = clients.id",
    ),
    "the one that has the column": (
        "SELECT orders.closed FROM clients",
        "SELECT orders.closed FROM clients JOIN archive.orders ON clients.id = orders.id",
    ),
    "both have it, and the search path finds one": (
        "SELECT orders.total FROM clients",
        "SELECT orders.total FROM clients JOIN orders ON clients.id = orders.client_id",
    ),
    "the one whose schema is said": (
        "SELECT archive.orders.total FROM clients",
        "SELECT archive.orders.total FROM clients JOIN archive.orders ON clients.id = orders.id",
    ),
    "two of one name in one FROM would need an alias": (
        "SELECT refunds.id, orders.client_id FROM orders",
        "SELECT refunds.id, orders.client_id FROM orders",
    ),
}


@pytest.mark.parametrize("name", TWO_SCHEMAS)
def test_tables_of_one_name_in_two_schemas_are_two(name: str) -> None:
    sql, completed = TWO_SCHEMAS[name]
    assert complete_joins(sql, SHOP) == completed
