"""Parts of the results file are replaced, and nothing else in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality.dialogue_results import Part, write_parts


def test_a_command_replaces_its_own_parts_and_keys_and_keeps_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "results" / "dialogue.json"
    write_parts(file, {Part.DIALOGUE: {"n": 5}, Part.ABSTENTION: {"n": 7}}, {"efficiency": 0.5, "gain": None})
    write_parts(file, {Part.LINKING: {"n": 1}}, {"table_em": 0.9})
    write_parts(file, {Part.LINKING: {"seed": 2}}, {"table_em": 0.8})
    assert json.loads(file.read_text()) == {
        "linking": {"seed": 2},
        "dialogue": {"n": 5},
        "abstention": {"n": 7},
        "summary": {"efficiency": 0.5, "gain": None, "table_em": 0.8},
    }
    assert list(json.loads(file.read_text())) == ["linking", "dialogue", "abstention", "summary"]
    assert list(file.parent.iterdir()) == [file]


def test_keys_of_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "dialogue.json"
    file.write_text('{"benchmark": "dialogue"}')
    write_parts(file, {Part.DIALOGUE: {}}, {})
    assert json.loads(file.read_text()) == {"benchmark": "dialogue", "dialogue": {}, "summary": {}}


@pytest.mark.parametrize("content", ["[1]", "{"])
def test_a_damaged_file_is_not_overwritten(tmp_path: Path, content: str) -> None:
    file = tmp_path / "dialogue.json"
    file.write_text(content)
    with pytest.raises(ValueError, match="restore it"):
        write_parts(file, {Part.DIALOGUE: {}}, {})
    assert file.read_text() == content
