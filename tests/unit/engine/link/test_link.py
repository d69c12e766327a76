"""Entities of a question."""

from __future__ import annotations

import pytest

from engine.question.question import Question

CASES = {
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


@pytest.mark.parametrize("question", CASES)
def test_entities(question: str) -> None:
    assert list(Question(question).entities) == CASES[question]


def test_long_runs_are_cut() -> None:
    long = Question("senior regional sales account manager bonus")
    assert long.entities == ("senior regional sales", "account manager bonus")
