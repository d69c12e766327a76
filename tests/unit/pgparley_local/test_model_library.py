"""The model's runtime where it is missing, cannot be loaded, or is another version than the one it was written for."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from pgparley_local import library, runtime


def library_that_gives(context: int, cells: int, cells_a_sequence: int) -> Any:
    """A library that makes contexts of this size, whatever it is asked for."""
    return SimpleNamespace(
        llama_init_from_model=lambda _model, _parameters: context,
        llama_n_seq_max=lambda _context: 16,
        llama_n_ctx=lambda _context: cells,
        llama_n_ctx_seq=lambda _context: cells_a_sequence,
    )


ASKED = library.ContextParameters(n_ctx=4096, n_seq_max=16)


def test_a_context_that_could_not_be_made_or_does_not_share_its_cells_is_told() -> None:
    with pytest.raises(OSError, match="not the version"):
        runtime._context(library_that_gives(1, 4096, 256), 1, ASKED)
    assert runtime._context(library_that_gives(1, 4096, 4096), 1, ASKED) == 1
    with pytest.raises(OSError, match="4096 tokens"):
        runtime._context(library_that_gives(0, 0, 0), 1, ASKED)


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "find_spec", lambda _: None)
    with pytest.raises(OSError, match="pip install"):
        library.load()


def test_a_library_that_cannot_be_loaded_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "xllamacpp.abi3.so").write_bytes(b"no library")

    class Found:
        origin = str(tmp_path / "__init__.py")

    monkeypatch.setattr(library, "find_spec", lambda _: Found)
    with pytest.raises(OSError, match="libgomp"):
        library.load()


def test_threads_spin_a_little_unless_the_operator_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.ctypes, "CDLL", lambda _path: Mock())
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    library.load()
    assert os.environ["GOMP_SPINCOUNT"] == library.SPIN["GOMP_SPINCOUNT"]
    monkeypatch.setenv("GOMP_SPINCOUNT", "0")
    library.load()
    assert os.environ["GOMP_SPINCOUNT"] == "0"
