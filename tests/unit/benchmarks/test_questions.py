"""Which questions are asked, and that no gold comes with them."""

from __future__ import annotations

import dataclasses
import json
from itertools import chain
from pathlib import Path

import pytest

from benchmarks.harness.drawing import MEASURED, RANKER_DATABASES, RANKER_QUESTIONS, read_items, unfitted
from benchmarks.harness.questions import (
    SETS,
    SPIDER,
    TRAIN,
    UNROUTED,
    Question,
    QuestionSet,
    Selection,
    asked,
)

EVERYTHING = Selection(None, seed=1)
DATABASES, QUESTIONS = 30, 12


def ids(bench: Path, of: QuestionSet, selection: Selection) -> list[str]:
    return [each.question.id for each in asked(bench, of, selection)]


def test_a_question_has_no_field_for_gold() -> None:
    assert [field.name for field in dataclasses.fields(Question)] == ["id", "text", "database"]


@pytest.mark.parametrize("of", SETS[:-1], ids=lambda of: of.name)
def test_no_gold_comes_with_a_question(bench: Path, of: QuestionSet) -> None:
    found = asked(bench, of, EVERYTHING)
    assert found
    assert "SECRET-GOLD" in (bench / of.file).read_text(encoding="utf-8")
    assert "SECRET-GOLD" not in repr(found)


def test_a_question_without_its_database_does_not_name_it(bench: Path) -> None:
    assert {each.question.database for each in asked(bench, SPIDER, EVERYTHING)} == {"music"}
    assert {each.question.database for each in asked(bench, UNROUTED, EVERYTHING)} == {None}


def test_a_smaller_sample_is_part_of_a_larger_one_and_in_the_files_order(bench: Path) -> None:
    whole = ids(bench, SPIDER, EVERYTHING)
    ten, twenty = (ids(bench, SPIDER, Selection(n, seed=1)) for n in (10, 20))
    assert len(whole) == 40
    assert len(ten) == 10
    assert set(ten) < set(twenty) < set(whole)
    assert ten == sorted(ten, key=whole.index)
    assert ten != ids(bench, SPIDER, Selection(10, seed=2))


def test_halves_are_disjoint_and_complete(bench: Path) -> None:
    halves = [ids(bench, SPIDER, Selection(None, 1, half=half)) for half in (0, 1)]
    assert all(halves)
    assert sorted(chain.from_iterable(halves)) == sorted(ids(bench, SPIDER, EVERYTHING))


def test_what_was_looked_at_is_skipped_in_the_same_order(bench: Path) -> None:
    seen, whole = (set(ids(bench, SPIDER, Selection(n, 1))) for n in (10, 25))
    assert set(ids(bench, SPIDER, Selection(15, 1, skip=10))) == whole - seen


@pytest.fixture
def trained(bench: Path) -> Path:
    items = [
        {
            "id": f"spider-train-{database}-{number}",
            "db": f"db{database}",
            "question": f"Which {number}?",
            "gold": f"SELECT {number // 2}",
            "gold_rows": number % 6,
        }
        for database in range(DATABASES)
        for number in range(QUESTIONS)
    ]
    (bench / TRAIN.file).write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return bench


def test_training_questions_are_of_databases_that_the_ranker_was_not_trained_on(trained: Path) -> None:
    items = unfitted(read_items(trained / TRAIN.file))
    assert len({item["db"] for item in items}) == RANKER_DATABASES
    assert all(item["gold_rows"] for item in items)
    for name in {item["db"] for item in items}:
        golds = [item["gold"] for item in items if item["db"] == name]
        assert len(golds) == len(set(golds))
        assert QUESTIONS // 2 - RANKER_QUESTIONS <= len(golds) <= MEASURED
