"""The lists: of which questions they are, and that they are read as they were written."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import msgspec

from benchmarks.harness.drawing import Item, left_out
from benchmarks.harness.linker_split import Part, part_of
from training.lists import ROUND, QuestionList, Written, drawn, read

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


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "lists.jsonl"
    assert read(file) == []
    each = listed((NAMES, True), (AGES, False))
    file.write_bytes(msgspec.json.encode(each) + b"\n")
    assert read(file) == [each]
