"""Questions about the data itself: told from others by their form, and answered by what the schema says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.ask.data_answers import answers, askable
from engine.question.data_questions import DataQuestion, Subject, data_question
from schema_catalog.types import Attributes, Column, ForeignKey, Sensitivity, Snapshot, Table, TableKind, Term

CUSTOMERS = Table(
    "public",
    "customers",
    TableKind.TABLE,
    (
        Column("id", "integer", nullable=False),
        Column("email", "text", attributes=Attributes(sensitivity=Sensitivity.SENSITIVE)),
        Column("region", "text", description="Where it is invoiced.", synonyms=("sales area",)),
    ),
    primary_key=("id",),
    row_estimate=10,
)
ORDERS = Table(
    "public",
    "orders",
    TableKind.TABLE,
    (
        Column("id", "integer", nullable=False),
        Column("customer_id", "integer"),
        Column("status", "order_status", labels=("open", "paid")),
        Column(
            "gross_sales",
            "numeric",
            description="What was sold, with tax.",
            attributes=Attributes(unit="EUR"),
        ),
    ),
    primary_key=("id",),
    foreign_keys=(ForeignKey(("customer_id",), "public", "customers", ("id",)),),
    row_estimate=100,
)
SALES = Snapshot(
    "sales",
    ("public",),
    (CUSTOMERS, ORDERS),
    terms=(
        Term("revenue", "sum(orders.gross_sales)", "Of all orders.", (("public", "orders", "gross_sales"),)),
    ),
)


def said(question: str, snapshot: Snapshot = SALES) -> tuple[tuple[str, str], ...]:
    asked = data_question(question)
    assert asked is not None
    return tuple((each.sql, each.words) for each in answers(asked, snapshot))


@pytest.mark.parametrize(
    ("question", "subject", "named"),
    [
        ("What does gross_sales mean?", Subject.MEANING, "gross_sales"),
        ("what does the column “gross sales” of orders mean here?", Subject.MEANING, "gross sales of orders"),
        ("Was bedeutet der Status?", Subject.MEANING, "status"),
        ("which tables have customer data?", Subject.PLACE, "customer data"),
        ("In welcher Tabelle steht die Region?", Subject.PLACE, "die region"),
        ("which values does status have?", Subject.VALUES, "status"),
        (
            "Please, what possible values can the status of an order take",
            Subject.VALUES,
            "status of an order",
        ),
        ("Welche Werte hat die Spalte status?", Subject.VALUES, "status"),
        ("how many rows has each table?", Subject.SIZES, ""),
        ("Wie viele Zeilen hat jede Tabelle?", Subject.SIZES, ""),
        ("What can I ask here?", Subject.SCOPE, ""),
        ("Was kann ich hier fragen?", Subject.SCOPE, ""),
        ("Show me all tables", Subject.TABLES, ""),
        ("which columns does orders have?", Subject.COLUMNS, "orders"),
    ],
)
def test_what_is_asked_of_the_data(question: str, subject: Subject, named: str) -> None:
    assert data_question(question) == DataQuestion(subject, named)


@pytest.mark.parametrize(
    "question",
    [
        "What is the status of order 5?",
        "Which values above 10 were measured in Berlin?",
        "How many rows does the theatre have?",
        "Which tables are reserved for tonight?",
        "Where is the customer with the most orders?",
        "What data plans do customers use?",
        "Show the tables with more than four seats",
        "What does the average customer spend?",
        "Welche Werte wurden gestern gemessen?",
    ],
)
def test_a_question_that_the_data_answers_is_none(question: str) -> None:
    assert data_question(question) is None


def test_the_catalog_says_what_things_mean_where_they_are_and_no_sensitive_values() -> None:
    ((sql, words),) = said("What does gross_sales mean?")
    assert words == "orders.gross_sales (numeric in EUR): What was sold, with tax"
    assert "('orders.gross_sales', 'numeric in EUR', 'What was sold, with tax')" in sql
    assert "customers.region" in said("what does sales area mean")[0][1]
    assert "computed as sum(orders.gross_sales)" in said("how is revenue defined?")[0][1]
    ((sql, words),) = said("which values does email have?")
    assert "FROM customers" not in sql
    assert words.startswith("its values are sensitive")
    ((sql, words),) = said("which tables have customer data?")
    assert words == "customer data: in customers and orders"
    assert "('orders', 'customer_id'" in sql
    assert said("What does churn mean?") == ()
    assert said("which tables have weather data?") == ()


def test_the_values_of_a_column_are_those_that_are_stored() -> None:
    expected = "SELECT DISTINCT status FROM orders ORDER BY status"
    assert said("which values does status have?") == (
        (expected, "each value of status of orders once; possible are open, paid"),
    )
    assert [sql for sql, _ in said("which values can the status of an order take?")] == [expected]
    assert len(said("which values does id have?")) == 2, "every column of that name"


def test_what_is_proposed_is_answered() -> None:
    first, *others = askable(SALES)
    assert first == "How many orders are there?"
    assert others == [
        "Which values does status of orders have?",
        "What does gross sales of orders mean?",
        "Which tables have customer data?",
        "How many rows has each table?",
    ]
    assert all(said(each) for each in others)
    assert askable(replace(SALES, tables=())) == ()
