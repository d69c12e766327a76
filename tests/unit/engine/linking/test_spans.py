"""Parts of a question that may be values."""

from __future__ import annotations

import pytest

from engine.linking.spans import Kind, spans

CASES = {
    "How many airports are there in Iceland?": {("airports", Kind.PHRASE), ("Iceland", Kind.NAME)},
    "singers from france": {
        ("singers from france", Kind.MIXED),
        ("singers", Kind.PHRASE),
        ("france", Kind.PHRASE),
    },
    "list flights to 'New York'": {("flights", Kind.PHRASE), ("New York", Kind.QUOTED)},
    "the Bank of America": {
        ("Bank of America", Kind.NAME),
        ("Bank", Kind.NAME),
        ("America", Kind.NAME),
    },
    "sales in May 2013": {("sales", Kind.PHRASE), ("May 2013", Kind.DATE)},
    "customers in OR": {("customers in OR", Kind.MIXED), ("customers", Kind.PHRASE), ("OR", Kind.NAME)},
    "SHOW SINGERS IN FRANCE": {
        ("SINGERS IN FRANCE", Kind.MIXED),
        ("SINGERS", Kind.PHRASE),
        ("FRANCE", Kind.PHRASE),
    },
    "France's capital": {
        ("France's capital", Kind.PHRASE),
        ("France", Kind.PHRASE),
        ("capital", Kind.PHRASE),
    },
    "flight 747 or 12": {("flight 747", Kind.PHRASE), ("flight", Kind.PHRASE), ("747", Kind.NUMBER)},
    "how many are there in all?": set(),
    "": set(),
    "?!'": set(),
}


@pytest.mark.parametrize("question", CASES)
def test_spans(question: str) -> None:
    assert {(span.text, span.kind) for span in spans(question)} >= CASES[question]


@pytest.mark.parametrize("question", ["how many are there in all?", "", "?!'", "3 or 12", "a b c"])
def test_nothing_to_look_for(question: str) -> None:
    assert [span.text for span in spans(question) if span.words == 1] == []


def test_places_are_those_in_the_question() -> None:
    question = "What is the age of Joe Sharp's dog?"
    for span in spans(question):
        assert question[span.start : span.end].startswith(span.text)


def test_a_long_question_has_few_spans() -> None:
    assert len(spans("alpha beta gamma delta " * 100)) <= 4 * 400
