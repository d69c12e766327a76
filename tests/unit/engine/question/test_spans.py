"""Parts of a question that may be values or entities."""

from __future__ import annotations

import pytest

from engine.question.question import Question
from engine.question.spans import SpanKind, entities_in, spans_in

CASES = {
    "How many airports are there in Iceland?": {("airports", SpanKind.PHRASE), ("Iceland", SpanKind.NAME)},
    "singers from france": {
        ("singers from france", SpanKind.MIXED),
        ("singers", SpanKind.PHRASE),
        ("france", SpanKind.PHRASE),
    },
    "list flights to 'New York'": {("flights", SpanKind.PHRASE), ("New York", SpanKind.QUOTED)},
    "the Bank of America": {
        ("Bank of America", SpanKind.NAME),
        ("Bank", SpanKind.NAME),
        ("America", SpanKind.NAME),
    },
    "sales in May 2013": {("sales", SpanKind.PHRASE), ("May 2013", SpanKind.DATE)},
    "customers in OR": {
        ("customers in OR", SpanKind.MIXED),
        ("customers", SpanKind.PHRASE),
        ("OR", SpanKind.NAME),
    },
    "SHOW SINGERS IN FRANCE": {
        ("SINGERS IN FRANCE", SpanKind.MIXED),
        ("SINGERS", SpanKind.PHRASE),
        ("FRANCE", SpanKind.PHRASE),
    },
    "France's capital": {
        ("France's capital", SpanKind.PHRASE),
        ("France", SpanKind.PHRASE),
        ("capital", SpanKind.PHRASE),
    },
    "flight 747 or 12": {
        ("flight 747", SpanKind.PHRASE),
        ("flight", SpanKind.PHRASE),
        ("747", SpanKind.NUMBER),
    },
    "who knows first aid on the top floor?": {
        ("first aid", SpanKind.MIXED),
        ("aid", SpanKind.PHRASE),
        ("top floor", SpanKind.MIXED),
        ("floor", SpanKind.PHRASE),
    },
    "how many are there in all?": set(),
    "": set(),
    "?!'": set(),
}


@pytest.mark.parametrize("question", CASES)
def test_spans(question: str) -> None:
    assert {(span.text, span.kind) for span in spans_in(question)} >= CASES[question]


def test_that_is_and_for_example_are_no_value() -> None:
    question = "private customers, i.e. without a firm, e.g. Ann"
    assert {span.text for span in spans_in(question)} == {
        "private customers",
        "private",
        "customers",
        "firm",
        "Ann",
    }
    assert entities_in(question) == ("private customers", "firm", "ann")


def test_a_long_question_has_few_spans() -> None:
    assert len(spans_in("alpha beta gamma delta " * 100)) <= 4 * 400


ENTITIES = {
    "What is the hometown of students from Utah?": ["hometown", "students", "utah"],
    "How many singers are there?": ["singers"],
    "List the gross sales by product category in 2023": ["gross sales", "product category"],
    "Show names of customers whose city is 'New York'": ["names", "customers", "city"],
    "number of orders by phone number in ascending order": ["orders", "phone number"],
    "average departure delay for each airline": ["departure delay", "airline"],
    "the customer's total order value": ["customer's", "order value"],
    "1 2 3": [],
    "": [],
    "¿Cuántos cantantes hay?": ["cuántos cantantes hay"],
    "歌手 有多少": ["歌手 有多少"],
}


@pytest.mark.parametrize("question", ENTITIES)
def test_entities(question: str) -> None:
    assert list(Question(question).entities) == ENTITIES[question]


def test_long_runs_are_cut() -> None:
    long = Question("senior regional sales account manager bonus")
    assert long.entities == ("senior regional sales", "account manager bonus")
