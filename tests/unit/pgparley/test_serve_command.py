"""What keeps `pgparley serve` from starting is said before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgparley.config import load
from pgparley.processes import PartKind
from pgparley.serve import parts
from pgparley.serve_command import CannotStartError, serve_parts


def test_a_runtime_directory_that_no_socket_fits_in(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 100)
    config = load(None, {"XDG_RUNTIME_DIR": str(folder)})
    with pytest.raises(CannotStartError, match="too long for the sockets in it") as problem:
        serve_parts(config, None, PartKind.GATEWAY)
    assert "runtime_dir" in problem.value.hint


def test_the_model_and_the_engine_share_a_key_of_their_own() -> None:
    keys = [
        [each.environment.get("PGPARLEY_MODEL_API_KEY", "") for each in parts(load(None, environment))]
        for environment in ({}, {}, {"PGPARLEY_MODEL_API_KEY": "mine"})
    ]
    drawn = [{key for key in each if key} for each in keys]
    assert [len(each) for each in drawn] == [1, 1, 1]
    assert drawn[0] != drawn[1]
    assert all(len(key) == 64 for key in drawn[0])
    assert keys[2] == ["", "mine", "mine"]
