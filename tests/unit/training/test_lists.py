"""The ranker's lists: of which questions they are, and what an example is made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.harness.drawing import MEASURED, RANKER_DATABASES, Item, left_out, unfitted
from engine.models.cross import Pair
from engine.ranking.ranker import phrases
from training.lists import ROUND, QuestionList, Written, drawn, read
from training.ranker import written
from training.ranker_head import COLUMNS, judged

NAMES, AGES = "SELECT name FROM singer", "SELECT age FROM singer"
KNOWN = (-0.1, 1.0, 0.0)


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
    return QuestionList("0-0", 6, tuple(Written(sql, KNOWN, right) for sql, right in statements))


def test_no_statement_that_is_measured_on_is_drawn() -> None:
    items = questions(30, 20)
    items += [dict(item) | {"id": f"{item['id']} again"} for item in items]
    asked = drawn(items, seed=1)
    measured = {(item["db"], item["gold"]) for item in unfitted(items)}
    assert len(measured) == RANKER_DATABASES * MEASURED
    assert {(item["db"], item["gold"]) for item in asked} == {
        (item["db"], item["gold"]) for item in items
    } - measured
    assert len(asked) == len({item["id"] for item in asked}) == len(items) - 2 * len(measured)


def test_the_statements_for_the_head_come_first_once_each_some_of_a_database_together() -> None:
    items = questions(30, 20)
    items += [dict(item) | {"id": f"{item['id']} again"} for item in items]
    kept = left_out(items)
    asked = drawn(items, seed=1)
    first = asked[: RANKER_DATABASES * (20 - MEASURED)]
    assert {item["db"] for item in first} == set(kept)
    assert len({(item["db"], item["gold"]) for item in first}) == len(first)
    assert len(list(groupby(item["db"] for item in first))) == len(kept) * (20 - MEASURED) / ROUND
    assert {item["db"] for item in asked[2 * len(first) :]} == {item["db"] for item in items} - set(kept)


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


class Constant:
    """Scores every pair the same."""

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """See `Reader.scores`."""
        return np.zeros((len(pairs), 2), dtype=np.float32)


def test_statements_in_the_same_words_are_one() -> None:
    item = questions(1, 1)[0]
    found = judged([listed((NAMES, True), (f"{NAMES} AS t", True), (AGES, False))], {"0-0": item}, Constant())
    assert [each.right.tolist() for each in found] == [[True, False]]
    assert found[0].features.shape == (2, len(COLUMNS))
