"""Verified queries with parameters: their form, which questions fill them in, and what becomes of values."""

from __future__ import annotations

from typing import Any, cast

import pytest

from engine.guard import BUILT_IN, Refused, check
from engine.learn.parameters import Parameter, ParameterError, filled, given, parameters
from engine.question.question import Question
from engine.values.elements import Relation, ValueLink
from tests.support.scripted import WordEncoder

ORDERS = "orders of {customer: text} in {year: int}"
SQL = "SELECT * FROM orders WHERE customer = {customer} AND year = {year} AND note <> '{year}'"
ACME = ValueLink("acme", ("public", "orders", "customer"), ("ACME Ltd.",), 0.95, Relation.EQUALS)


def values(question: str, verified: str = ORDERS, *links: ValueLink) -> dict[str, str] | None:
    found = given(Question(question), verified, links, cast("Any", WordEncoder()))
    return None if found is None else found[0]


def test_what_they_are() -> None:
    assert parameters(ORDERS) == (Parameter("customer", "text"), Parameter("year", "int"))
    assert parameters("orders of {customer}") == parameters("orders in {year: money}") == ()


@pytest.mark.parametrize(
    "question",
    [
        "Orders of Acme in 2024?",
        "show me the orders of 'Acme' in 2024",
        "Which orders of Acme are there in 2024?",
    ],
)
def test_a_question_gives_them_values(question: str) -> None:
    assert values(question) == {"customer": "Acme", "year": "2024"}


def test_a_value_is_written_as_it_is_stored() -> None:
    assert values("orders of acme in 2024", ORDERS, ACME) == {"customer": "ACME Ltd.", "year": "2024"}


@pytest.mark.parametrize(
    "question",
    [
        "orders of Acme",
        "orders of Acme in 2024 and 2025",
        "unpaid orders of Acme in 2024",
        "invoices of Acme in 2024",
        "orders of all good customers in 2024",
        "orders of Acme in 2024 by month",
        "orders of Acme and Birk in 2024",
        "orders not of Acme in 2024",
        "how many orders of Acme are there in 2024?",
        "orders of Acme in Vienna in 2024",
    ],
)
def test_what_says_more_less_or_something_else_is_another_question(question: str) -> None:
    assert values(question) is None


def test_dates_are_filled_in_as_they_come() -> None:
    verified = "sales between {first: date} and {last: date}"
    expected = {"first": "2024-01-01", "last": "2024-03-31"}
    assert values("What were the sales between 2024-01-01 and 2024-03-31?", verified) == expected


def test_values_stand_where_values_may_stand() -> None:
    named = parameters(ORDERS)
    sql = filled(SQL, named, {"customer": "O'Neil", "year": "2024"})
    assert sql == (
        "SELECT * FROM orders WHERE customer = 'O''Neil' AND year = CAST('2024' AS int) AND note <> '$2'"
    )
    assert "customer = CAST(NULL AS text)" in filled(SQL, named)
    with pytest.raises(ParameterError, match="customer stands nowhere"):
        filled("SELECT '{customer}', {year}", named)
    with pytest.raises(ParameterError, match="no SQL"):
        filled("SELECT * FROM {customer} WHERE {year}", named)
    with pytest.raises(ParameterError, match="no parameter"):
        filled("SELECT {customer}, {year}, $7", named)


def test_no_value_is_more_than_a_value() -> None:
    named = parameters("orders of {customer: text}")
    sql = filled(
        "SELECT 1 FROM orders WHERE customer = {customer}",
        named,
        {"customer": "' OR 1=1; DROP TABLE orders --"},
    )
    verdict = check(sql, BUILT_IN)
    assert not isinstance(verdict, Refused)
    assert "= '''" in verdict.analysis.body
