"""Parts of a question that may be values."""

from __future__ import annotations

import pytest

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
