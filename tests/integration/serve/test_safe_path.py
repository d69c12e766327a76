"""Modules of our names, planted in the working directory and in PYTHONPATH: ours run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.values.python_process import python_command
from tests.conftest import ROOT, free_port
from tests.unit.test_imports import BELOW, BESIDE, modules

MARK = "a planted module ran"
OTHERS = ("asyncio", "pip", "structlog", "typer")
EARLY = ("pgparley", "sitecustomize")
"""What Python itself, or the console script, imports before anything of ours can help it: from PYTHONPATH, that is."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A working directory with everything planted in it."""
    return _planted(tmp_path / "here", {*BELOW, *OTHERS, *EARLY})


def _planted(folder: Path, names: set[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text(f"raise SystemExit('{MARK}: {name}')\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "command", [("pgparley.processes", "--help"), ("pgparley.cli", "--version"), ("pip", "-V")]
)
def test_a_process_of_ours(command: tuple[str, ...], here: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f":{here}"}
    words = python_command(*command)
    done = subprocess.run(words, cwd=here, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert (done.returncode, done.stderr) == (0, "")
    assert command[0].split(".")[0] in done.stdout


def test_the_console_script_and_the_workers_that_it_starts(here: Path, tmp_path: Path) -> None:
    elsewhere = _planted(tmp_path / "elsewhere", {*BELOW, *OTHERS} - set(EARLY))
    script = tmp_path / "pgparley"
    script.write_text(f"#!{sys.executable}\nfrom pgparley.command import main\n\nmain()\n", encoding="utf-8")
    script.chmod(0o700)
    config = tmp_path / "pgparley.toml"
    config.write_text(
        f'[gateway]\nlisten_port = {free_port()}\nengine = ""\n[engine]\nsocket = "{tmp_path}/e.sock"\n',
        "utf-8",
    )
    process = subprocess.Popen(  # noqa: S603 - our own program
        [str(script), "--config", str(config), "serve", "gateway"],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(elsewhere)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=30)[1]
    assert '"event": "listening"' in first
    assert MARK not in first + rest
    assert process.returncode == 0


def test_every_python_process_is_begun_so() -> None:
    named = {
        str(file.relative_to(ROOT))
        for name, file in modules().items()
        if name.split(".")[0] not in BESIDE and "sys.executable" in file.read_text("utf-8")
    }
    assert named == {"engine/values/python_process.py", "pgparley/command.py"}
