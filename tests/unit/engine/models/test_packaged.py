"""Models that come along: what was written is read, anything else is refused in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.models.packaged import Manifest, read
from engine.values.errors import PackagedError
from training.command import write

MANIFEST = Manifest("thing", 1, "encoder", "2026-01-01T00:00:00+00:00", "command", 10, 0.5)


def test_what_is_written_is_read_and_the_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6).reshape(2, 3), "names": np.array(["x", "yz"])}
    first = write(tmp_path, MANIFEST, arrays)
    found = read(tmp_path, "thing", 1)
    assert found.manifest == first
    assert {key: value.tolist() for key, value in found.arrays.items()} == {
        "a": [[0, 1, 2], [3, 4, 5]],
        "names": ["x", "yz"],
    }
    assert write(tmp_path / "again", MANIFEST, arrays).weights_sha256 == first.weights_sha256


def test_other_bytes_than_the_manifest_names_are_refused(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, {"a": np.zeros(3)})
    file = tmp_path / "weights.npz"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(PackagedError, match="is damaged; install pgparley again"):
        read(tmp_path, "thing", 1)


def test_another_model_or_format_is_refused(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, {"a": np.zeros(3)})
    with pytest.raises(PackagedError, match="holds thing of format 1, not thing of format 2"):
        read(tmp_path, "thing", 2)
    with pytest.raises(PackagedError, match="not other of format 1"):
        read(tmp_path, "other", 1)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackagedError, match="cannot be read"):
        read(tmp_path / "nowhere", "thing", 1)
