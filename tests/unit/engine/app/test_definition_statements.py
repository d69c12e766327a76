"""Definitions as the statements by which they are checked."""

from __future__ import annotations

import pytest

from engine.app.checking import DefinitionError, statement_of
from schema_catalog.definitions import Join
from schema_catalog.types import Term


def of(definition: str) -> str:
    return statement_of(Term("t", definition))


@pytest.mark.parametrize(
    ("definition", "tables"),
    [
        ("customers.status = 'A'", "customers"),
        ("  customers.status\n   = 'A'  ", "customers"),
        ("orders.net - orders.tax", "orders"),
        ("sum(public.orders.net) / count(DISTINCT customers.no)", "public.orders, customers"),
        ('"Order".net > 1', '"Order"'),
        ("count(orders.*)", "orders"),
        ("customers.no IN (SELECT customer FROM orders WHERE net > 0)", "customers"),
        ("EXISTS (SELECT FROM orders o WHERE o.customer = customers.no)", "customers"),
        ("customers.since > current_date - interval '1 year'", "customers"),
    ],
)
def test_the_tables_are_those_before_the_columns(definition: str, tables: str) -> None:
    assert of(definition) == f"SELECT {' '.join(definition.split())} FROM {tables}"


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        ("status = 'A'", "write status with its table before it"),
        ("*", "write a column with its table before it"),
        ("customers.status = 'A', customers.no", "more than one SQL expression"),
        ("customers.no FROM customers", "more than one SQL expression"),
        ("customers.no AS n", "more than one SQL expression"),
        ("customers.no UNION SELECT 1", "more than one SQL expression"),
        ("customers.no) + (1", "no SQL expression"),
        ("customers.no; DROP TABLE customers", "no SQL expression"),
        ("customers.status = ", "no SQL expression"),
        ("customers.no -- a comment", "a comment"),
        ("customers.no /* a comment */", "a comment"),
        ("customers.status = 'a\nb'", "line break"),
        ("1 + 1", "names no column"),
    ],
)
def test_what_is_no_single_expression_over_tables_is_refused(definition: str, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        of(definition)


def test_a_join_of_a_table_to_itself_has_two_names() -> None:
    column = ("public", "person", "boss")
    assert statement_of(Join(column, ("public", "person", "id"))) == (
        "SELECT 1 FROM public.person AS person JOIN public.person AS other ON person.boss = other.id"
    )
