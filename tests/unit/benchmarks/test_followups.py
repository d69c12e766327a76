"""Which turns of dialogues are measured, and what is told of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.followups.turns import Said, Turn, turns, unrelated


def written(folder: Path, name: str, *items: dict[str, object]) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    said = [
        {"question": "Which pets are there?", "gold": "SELECT * FROM pets"},
        {"question": "How many?", "gold": 'SELECT COUNT(*) FROM "Pets"'},
        {"question": "How old | Do you mean the age? | yes", "gold": "SELECT COUNT(*) FROM pets"},
    ]
    written(tmp_path, "followups/dialogues.jsonl", {"id": "d", "db": "zoo", "turns": said})
    full = {
        "id": "s",
        "db": "zoo",
        "question": "How many pets are there?",
        "gold": "SELECT count(*) FROM pets;",
    }
    written(tmp_path, "spider/dev.jsonl", full)
    alike = {"id": "a", "db": "zoo", "question": "Show all pets", "gold": "SELECT * FROM pets"}
    other = {"id": "b", "db": "zoo", "question": "What is the oldest pet?", "gold": "SELECT 1"}
    written(tmp_path, "spider/syn_dev.jsonl", alike, other)
    written(tmp_path, "ambrosia/questions.jsonl")
    return tmp_path


def test_turns_with_a_counterpart_in_full_are_measured(bench: Path) -> None:
    before = (Said("Which pets are there?", "SELECT * FROM pets"),)
    assert turns(bench) == (Turn("d-1", "zoo", "How many?", "How many pets are there?", before),)


def test_no_unrelated_question_has_the_gold_of_its_dialogue(bench: Path) -> None:
    assert [each.text for each in unrelated(bench, turns(bench))] == ["What is the oldest pet?"]
