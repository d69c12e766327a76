"""An engine that cannot start says why and what to do, in one line of its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

CASES = {
    "the store's server is not there": (
        '[engine]\nstore = "postgresql://nobody@/none?host={home}"\n[model]\nbase_url = "http://127.0.0.1:9/v1"\n',
        "the store cannot be used",
    ),
    "no model is configured": ("", "no language model"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_start_that_fails(case: str, tmp_path: Path) -> None:
    text, event = CASES[case]
    config = tmp_path / "pgparley.toml"
    config.write_text(text.format(home=tmp_path), encoding="utf-8")
    command = [sys.executable, "-m", "pgparley.processes", "engine", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603
    assert done.returncode in {1, os.EX_CONFIG}
    entry = json.loads(done.stderr.strip().splitlines()[-1])
    assert entry["event"] == event
    assert entry["hint"]
    assert "Traceback" not in done.stderr
