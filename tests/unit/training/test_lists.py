"""The ranker's lists: of which questions they are, and what an example is made of."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from benchmarks.harness.drawing import Item, left_out
from engine.ranking.ranker import phrases
from training.linker_split import Part, part_of
from training.lists import ROUND, QuestionList, Written, drawn, read
from training.ranker import written

NAMES, AGES = "SELECT name FROM singer", "SELECT age FROM singer"


def questions(databases: int, each: int) -> list[Item]:
    return [
        {
            "id": f"{name}-{number}",
            "db": f"db{name}",
            "question": "Which names?",
            "gold": f"SELECT {number}",
            "gold_rows": 1,
        }
        for name in range(databases)
        for number in range(each)
    ]


def listed(*statements: tuple[str, bool]) -> QuestionList:
    return QuestionList("0-0", 6, tuple(Written(sql, right) for sql, right in statements))


def test_a_question_of_each_statement_is_drawn_of_databases_that_nothing_was_trained_or_is_measured_on() -> (
    None
):
    items = questions(60, 20)
    items += [dict(item) | {"id": f"{item['id']} again"} for item in items]
    asked = drawn(items, seed=1)
    kept = {f"db{name}" for name in range(60) if part_of(f"db{name}") is not Part.LINKER} - set(
        left_out(items)
    )
    assert {item["db"] for item in asked} == kept
    assert len(asked) == len({(item["db"], item["gold"]) for item in asked}) == 20 * len(kept)
    assert len(list(groupby(item["db"] for item in asked))) == len(kept) * 20 / ROUND


def test_without_a_right_statement_the_known_one_stands_in() -> None:
    item = dict(questions(1, 1)[0]) | {"gold": NAMES}
    made = written(listed((AGES, False)), item, "0")
    assert made is not None
    assert made.statements == (phrases(NAMES), phrases(AGES))


def test_the_models_own_right_statement_comes_before_the_known_one() -> None:
    item = dict(questions(1, 1)[0]) | {"gold": "SELECT singer.name FROM singer WHERE true"}
    made = written(listed((AGES, False), (NAMES, True)), item, "0")
    assert made is not None
    assert made.statements == (phrases(NAMES), phrases(AGES))


@pytest.mark.parametrize("statements", [(), ((NAMES, True),), ((NAMES, True), (f"{NAMES} AS t", False))])
def test_where_no_words_are_wrong_there_is_nothing_to_learn(statements: tuple[tuple[str, bool], ...]) -> None:
    item = dict(questions(1, 1)[0]) | {"gold": NAMES}
    assert written(listed(*statements), item, "0") is None


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "lists.jsonl"
    assert read(file) == []
    each = listed((NAMES, True), (AGES, False))
    file.write_bytes(msgspec.json.encode(each) + b"\n")
    assert read(file) == [each]
