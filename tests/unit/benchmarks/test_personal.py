"""The personalisation benchmark: which questions are pairs, and that a gain over nothing is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness.questions import AMBIQT
from benchmarks.quality.personal.pairs import pairs

COLUMNS = ("artist_name", "performer_name")
QUESTIONS = (
    "Show the name of every singer",
    "What is the singer name with the lowest id",
    "List names of singers",
)


def item(number: int) -> dict[str, Any]:
    """Question 0, 1, 2 of the first ambiguity, the next three of a second one, and so on."""
    group, which = divmod(number, 3)
    return {
        "id": f"ambiqt-C-{number:04}",
        "kind": "C",
        "db": "music",
        "question": f"{QUESTIONS[which]}.",
        "ambiguous": {"table": "singer", "column": "name", "names": [*COLUMNS, group]},
        "ddl_both": "",
        # The last question of a group is a paraphrase of the first.
        "gold_base": "b" if which == 1 else "a",
        "gold_1": "SELECT artist_name FROM singer",
        "gold_2": "SELECT performer_name FROM singer",
        "schema_both": [],
    }


def written(bench: Path, groups: int) -> Path:
    (bench / "ambiqt").mkdir()
    lines = [json.dumps(item(number)) for number in range(3 * groups)]
    (bench / "ambiqt" / "C.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bench


def test_pairs_are_of_one_ambiguity_and_are_no_paraphrases(tmp_path: Path) -> None:
    bench = written(tmp_path, 8)
    made = pairs(bench, AMBIQT[0], 8, 1)
    assert len(made) == 8
    for each in made:
        numbers = [int(asked.question.id[-4:]) for asked in (each.first, each.second)]
        assert numbers[0] // 3 == numbers[1] // 3
        assert {number % 3 == 1 for number in numbers} == {True, False}
        assert each.gold == f"SELECT {COLUMNS[each.reading]} FROM singer"
    assert {each.reading for each in made} == {0, 1}
    assert {each.name for each in pairs(bench, AMBIQT[0], 3, 1)} < {each.name for each in made}
    assert made == pairs(bench, AMBIQT[0], 100, 1)
