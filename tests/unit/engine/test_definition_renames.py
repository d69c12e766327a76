"""Accepted renames in the SQL of terms and verified queries: golden pairs, and what is refused."""

from __future__ import annotations

import pytest

from engine.definitions.renaming import renamed_text
from engine.definitions.statement import DefinitionError
from schema_catalog.definitions import Definition, Stored, VerifiedQuery
from schema_catalog.drift import Evidence, Rename
from schema_catalog.types import Column, Snapshot, Table, TableKind, Term

NET = Rename(("public", "orders", "net"), ("public", "orders", "Net sum"), Evidence.NUMBER)
ORDERS = Rename(("public", "orders"), ("public", "purchases"), Evidence.NUMBER)
MOVED = Rename(("public", "orders"), ("archive", "orders"), Evidence.NUMBER)


def snapshot(rename: Rename) -> Snapshot:
    """As it is after `rename`."""
    net = rename.new[2] if len(rename.new) == 3 else "net"
    columns = (Column("id", "integer"), Column("cust_no", "integer"), Column(net, "numeric"))
    customers = Table(
        "public", "customers", TableKind.TABLE, (Column("no", "integer"), Column("net", "text"))
    )
    orders = Table(rename.new[0], rename.new[1], TableKind.TABLE, columns)
    return Snapshot("sales", ("public",), (customers, orders))


def text(definition: Definition, rename: Rename) -> str:
    return renamed_text(Stored("sales", definition, "", (), ""), rename, snapshot(rename))


@pytest.mark.parametrize(
    ("rename", "before", "after"),
    [
        (NET, "SELECT sum(net) FROM orders", 'SELECT sum("Net sum") FROM orders'),
        (NET, "SELECT net FROM orders ORDER BY net", 'SELECT "Net sum" AS net FROM orders ORDER BY net'),
        (
            NET,
            "SELECT 'é', o.net, c.net FROM orders o JOIN customers c ON c.no = o.cust_no WHERE o.net > 1",
            "SELECT 'é', o.\"Net sum\" AS net, c.net FROM orders o JOIN customers c ON c.no = o.cust_no"
            ' WHERE o."Net sum" > 1',
        ),
        (
            NET,
            "SELECT x.net FROM (SELECT net FROM orders) x",
            'SELECT x.net FROM (SELECT "Net sum" AS net FROM orders) x',
        ),
        (
            NET,
            "WITH net AS (SELECT id, net FROM orders) SELECT net.net FROM net",
            'WITH net AS (SELECT id, "Net sum" AS net FROM orders) SELECT net.net FROM net',
        ),
        (NET, "SELECT count(*) FROM orders", "SELECT count(*) FROM orders"),
        (ORDERS, "SELECT orders.net FROM orders", "SELECT purchases.net FROM purchases"),
        (ORDERS, "SELECT o.net FROM public.orders o", "SELECT o.net FROM public.purchases o"),
        (ORDERS, "SELECT orders.* FROM orders", "SELECT purchases.* FROM purchases"),
        (
            ORDERS,
            "SELECT no FROM customers WHERE EXISTS (SELECT FROM orders WHERE orders.cust_no = no)",
            "SELECT no FROM customers WHERE EXISTS (SELECT FROM purchases WHERE purchases.cust_no = no)",
        ),
        (MOVED, "SELECT net FROM public.orders", "SELECT net FROM archive.orders"),
    ],
)
def test_a_query_follows_a_rename(rename: Rename, before: str, after: str) -> None:
    assert text(VerifiedQuery("what?", before), rename) == after


@pytest.mark.parametrize(
    ("rename", "before", "after"),
    [
        (NET, "orders.net", 'orders."Net sum"'),
        (NET, "sum(orders.net) > 5", 'sum(orders."Net sum") > 5'),
        (
            ORDERS,
            "orders.net > 1 AND orders.id IS NOT NULL",
            "purchases.net > 1 AND purchases.id IS NOT NULL",
        ),
        (
            ORDERS,
            "customers.no IN (SELECT o.cust_no FROM orders o)",
            "customers.no IN (SELECT o.cust_no FROM purchases o)",
        ),
    ],
)
def test_a_term_follows_a_rename(rename: Rename, before: str, after: str) -> None:
    assert text(Term("net revenue", before), rename) == after


@pytest.mark.parametrize(
    ("rename", "before"),
    [
        (NET, "SELECT x.net FROM (SELECT * FROM orders) x"),
        (NET, "SELECT net FROM orders JOIN orders o USING (net)"),
        (MOVED, "SELECT net FROM orders"),
        (NET, "SELECT gross FROM orders"),
    ],
)
def test_what_would_read_something_else_is_refused(rename: Rename, before: str) -> None:
    with pytest.raises(DefinitionError):
        text(VerifiedQuery("what?", before), rename)
