"""Which worked examples a question gets: those of its form and of the structure that is predicted."""

from __future__ import annotations

import time

import pytest

from engine.conditions.types import Condition, Hardness, Operator, StatementKind
from engine.prompting.example_choice import ExampleLibrary, masked

FORMS = [
    ("How many singers are there?", "how many thing are there ?"),
    ("Which singers born after 1990 are from 'Lyon'?", "which thing after 3 are from value ?"),
    ("List vocalists in New York, youngest first.", "list thing in value , youngest first"),
    ("What is the average age per country?", "what is the average thing per thing ?"),
    ("", ""),
]


@pytest.mark.parametrize(("question", "form"), FORMS)
def test_a_form_has_neither_names_nor_values(question: str, form: str) -> None:
    assert masked(question) == form


def condition(probability: float, *operators: Operator) -> Condition:
    return Condition(StatementKind(frozenset(operators), Hardness.MEDIUM), probability)


def test_questions_over_other_schemas_with_the_same_form_are_chosen() -> None:
    found = ExampleLibrary(10).choose("Which wizards have no wand?", ())
    assert "Which hosts have no show?" in {each.question for each in found}


def test_the_predicted_structure_is_followed() -> None:
    question = "Which wizards own wands of oak and of yew?"
    wanted = frozenset({Operator.JOIN, Operator.WHERE, Operator.INTERSECT})
    found = ExampleLibrary(4).choose(question, (condition(0.9, *wanted), condition(0.1, Operator.WHERE)))
    assert {each.operators for each in found} == {wanted}
    assert all(each.operators != wanted for each in ExampleLibrary(4).choose(question, (condition(1.0),)))


def test_the_nearest_stands_last_and_each_once() -> None:
    library, question = ExampleLibrary(6), "What is the name of the tallest wizard?"
    found = library.choose(question, ())
    assert len(set(found)) == len(found) == 6
    assert found[-1] == ExampleLibrary(1).choose(question, ())[0]


def test_a_question_without_a_known_word_gets_examples_all_the_same() -> None:
    assert len(ExampleLibrary(3).choose("", ())) == 3


def test_choosing_takes_less_than_five_milliseconds() -> None:
    library = ExampleLibrary(6)
    conditions = tuple(condition(0.2, operator) for operator in Operator)
    taken = []
    for _ in range(20):
        began = time.perf_counter()
        library.choose("Which wizards have more than two wands and no owl?", conditions)
        taken.append(time.perf_counter() - began)
    assert min(taken) < 0.005
