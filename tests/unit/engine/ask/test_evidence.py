"""What a difference itself says about its readings: what the question names, what the schema holds twice."""

from __future__ import annotations

import pytest

from engine.ask.choice import named_reading
from engine.ask.differences import Reading
from engine.ask.question_back import best_proposal
from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.elements import BranchingPoint, SchemaLinks
from schema_catalog.types import Snapshot
from tests.support.schemas import table

SCHOOL = Snapshot(
    "school",
    ("public",),
    (
        table("pupil", "pupil_id first_name last_name country"),
        table("pupil_country", "pupil_id country"),
        table("teacher", "teacher_id last_name country"),
        table("course", "course_id name"),
        table("lecture", "course_id name"),
    ),
)


def reading(place: int, element: str) -> Reading:
    name, column = element.split(".")
    return Reading((element,), (place,), frozenset({("public", name, column)}))


@pytest.mark.parametrize(
    ("question", "elements", "named"),
    [
        ("the first name of each pupil", ["pupil.first_name", "pupil.last_name"], 0),
        ("the FirstNames of pupils", ["pupil.first_name", "pupil.last_name"], 0),
        ("the name of each pupil", ["pupil.first_name", "pupil.last_name"], None),
        ("first and last names", ["pupil.first_name", "pupil.last_name"], None),
        ("names, and what comes first", ["pupil.last_name", "pupil.first_name"], 1),
        ("the country", ["pupil.country", "pupil.last_name"], 0),
        ("the country", ["pupil.country", "teacher.country"], None),
        ("the country of each teacher", ["pupil.country", "teacher.country"], 1),
        ("the country of each pupil", ["pupil.country", "pupil_country.country"], None),
        ("all courses", ["course.*", "lecture.*"], 0),
        ("all classes", ["course.*", "lecture.*"], None),
    ],
)
def test_the_reading_that_a_question_names(question: str, elements: list[str], named: int | None) -> None:
    readings = [reading(place, each) for place, each in enumerate(elements)]
    found = named_reading(readings, Question(question))
    assert found == (None if named is None else readings[named])


def gain(question: str, *statements: str, links: SchemaLinks | None = None) -> float:
    these = [
        Candidate("school", sql, confidence=confidence)
        for sql, confidence in zip(statements, (0.8, 0.2), strict=True)
    ]
    given = {} if links is None else {"school": links}
    proposal = best_proposal(these, {"school": SCHOOL}, Question(question), links=given)
    assert proposal is not None
    return proposal.errors.gain


def test_what_the_linker_leaves_open_is_worth_a_question_and_what_the_question_names_hardly() -> None:
    both = ("SELECT first_name FROM pupil", "SELECT last_name FROM pupil")
    first, last = ("public", "pupil", "first_name"), ("public", "pupil", "last_name")
    point = BranchingPoint(first, linked=True, alternatives=(last,))
    links = SchemaLinks({first: 0.9, last: 0.1}, frozenset({first}), (point,), 1.0)
    assert gain("", *both, links=links) > gain("", *both) + 0.05
    both = ("SELECT first_name FROM pupil", "SELECT last_name FROM pupil")
    assert gain("Show the first names", *both) < gain("Show the names", *both) / 2


def test_what_is_held_twice_is_worth_one_although_one_place_is_preferred() -> None:
    join = "SELECT c.country FROM pupil p JOIN {} c ON p.pupil_id = c.{}"
    of_pupil = "SELECT country FROM pupil"
    twice = gain("", of_pupil, join.format("pupil_country", "pupil_id"))
    elsewhere = gain("", of_pupil, join.format("teacher", "teacher_id"))
    assert twice > elsewhere + 0.05
    assert gain("", "SELECT name FROM course", "SELECT name FROM lecture") > 0.25
