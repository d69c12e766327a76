"""The judgement of a model's readings, fitted on what became of recorded answers."""

from __future__ import annotations

from benchmarks.harness.drawing import fold_of
from training.answers import known_alone
from training.judgement import answer_figures, fit_answers, rounded
from training.lists import QuestionList, Written

WRONG = {"shown": 1.1, "near": 0.2}
RIGHT = {"near": 0.8}


def answers() -> list[QuestionList]:
    """Of twenty databases each a right answer and a wrong one, with a right reading behind every other wrong one."""
    made = []
    for number in range(20):
        behind = Written(right=number % 2 == 0, features={"place": 1.0})
        last = Written(features={"place": 2.0})
        made.append(
            QuestionList(f"r{number}", 5, (Written(right=True, features=RIGHT),), database=f"db{number}")
        )
        made.append(
            QuestionList(f"w{number}", 5, (Written(features=WRONG), behind, last), database=f"db{number}")
        )
    return made


def test_what_tells_right_from_wrong_is_found_and_what_nothing_tells_stays_as_it_was() -> None:
    found = rounded(fit_answers(answers()))
    assert found.some["shown"] < 0 < found.some["near"]
    assert found.some["outer"] == 0
    assert found.first_right(RIGHT) > 0.8
    assert found.first_right(WRONG) < 0.2
    assert found.which["place"] < 0
    # No answer is taken for surer than any was.
    assert found.first_right({"near": 1.0, "assumes": 9.0}) == found.first_right(RIGHT)


def test_figures_are_of_databases_that_gave_nothing_to_the_weights() -> None:
    assert len({fold_of(f"db{number}") for number in range(20)}) > 1
    found = answer_figures([*answers(), QuestionList("none", 5, (), database="db1")])
    assert (found["answers"], found["answers_wrong"]) == (40.0, 20.0)
    assert found["answers_auc"] == 1.0


def test_of_an_answer_facts_alone_are_kept() -> None:
    known = known_alone(answers()[1])
    assert known == {
        "id": "w0",
        "k": 5,
        "database": "db0",
        "candidates": [
            {"features": WRONG},
            {"right": True, "features": {"place": 1.0}},
            {"features": {"place": 2.0}},
        ],
    }
