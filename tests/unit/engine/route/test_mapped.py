"""Large arrays in files that are mapped."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.route import index as mapped
from engine.route.index import KEPT_S, stacked

PARTS = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((1, 3), dtype=np.float32)]
WHOLE = np.concatenate(PARTS)


@pytest.fixture(autouse=True)
def _worth_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "LEAST", 1)


def is_mapped(array: NDArray[np.float32]) -> bool:
    base: object = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base
    return False


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_the_same_arrays_are_one_file_which_is_written_once(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    first = stacked(PARTS, folder)
    (path,) = files(folder)
    written = path.stat()
    second = stacked([WHOLE[:1], WHOLE[1:]], folder)
    assert np.array_equal(first, WHOLE)
    assert np.array_equal(second, WHOLE)
    assert is_mapped(first)
    assert is_mapped(second)
    assert type(first) is np.ndarray
    assert not first.flags.writeable
    assert [each.stat().st_ino for each in files(folder)] == [written.st_ino]
    assert path.stat().st_mode & 0o077 == 0


def test_what_nobody_opened_for_long_goes_and_who_has_it_mapped_keeps_it(tmp_path: Path) -> None:
    first = stacked(PARTS, tmp_path)
    (path,) = files(tmp_path)
    old = time.time() - KEPT_S - 60
    os.utime(path, (old, old))
    stacked([WHOLE + 1], tmp_path)
    assert path not in files(tmp_path)
    assert np.array_equal(first, WHOLE)


def test_without_a_folder_or_room_it_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    for folder in (None, in_the_way / "index"):
        found = stacked(PARTS, folder)
        assert np.array_equal(found, WHOLE)
        assert not is_mapped(found)
    monkeypatch.setattr(mapped, "LEAST", WHOLE.nbytes + 1)
    assert not is_mapped(stacked(PARTS, tmp_path / "index"))
    assert not (tmp_path / "index").exists()


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert np.array_equal(stacked(PARTS, tmp_path), WHOLE)
    assert files(tmp_path) == []
