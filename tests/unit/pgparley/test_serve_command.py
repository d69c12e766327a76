"""What keeps `pgparley serve` from starting is said before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgparley.config import load
from pgparley.processes import PartKind
from pgparley.serve_command import CannotStartError, serve_parts


def test_a_runtime_directory_that_no_socket_fits_in(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 100)
    config = load(None, {"XDG_RUNTIME_DIR": str(folder)})
    with pytest.raises(CannotStartError, match="too long for the sockets in it") as problem:
        serve_parts(config, None, PartKind.GATEWAY)
    assert "runtime_dir" in problem.value.hint
