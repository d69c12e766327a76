"""`pgparley serve`, all its parts, with what can never be used: it says so once and ends."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from engine.app.main import run
from pgparley.cli import app
from pgparley.cluster import Cluster
from pgparley.config import load
from tests.conftest import ROOT
from tests.support.parts import command, connected, port_of, relaying

MODEL = '[model]\nbase_url = "http://127.0.0.1:1/v1"\n'
STORE = "postgresql:///x"


@pytest.mark.parametrize(
    ("store", "rest", "said"),
    [
        pytest.param("nonsense", MODEL, "store in [engine]: ", marks=pytest.mark.slow),
        ("postgresql://u:hunter2@host:nope/x", MODEL, "store in [engine]: "),
        ("postgresql://u@host/x?sslmode=nonsense", MODEL, "the store's address cannot be understood"),
        (STORE, '[embedded_model]\npath = "NONE"\n', "no language model could be loaded"),
        pytest.param(
            *(STORE, '[embedded_model]\npath = "SELF"\n', "no language model could be loaded"),
            marks=pytest.mark.slow,
        ),
        (STORE, MODEL + '[generation]\nrules_off = ["nonsense"]\n', "nonsense"),
        (STORE, '[page]\nlisten = "nonsense"\n', "nonsense"),
    ],
)
def test_it_ends_and_says_why(upstream: Cluster, tmp_path: Path, store: str, rest: str, said: str) -> None:
    file = tmp_path / "pgparley.toml"
    text = f'{relaying(upstream)}[engine]\nsocket = "{tmp_path}/e.sock"\nstore = "{store}"\n{rest}'
    file.write_text(text.replace("NONE", f"{tmp_path}/none").replace("SELF", str(file)), encoding="utf-8")
    words = command(file, "serve")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert any(line.startswith("pgparley: ") for line in done.stderr.splitlines()[-2:])
    assert "hunter2" not in done.stderr


def test_a_configuration_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text("nonsense", encoding="utf-8")
    for config, said in ((file, "is not TOML"), (tmp_path, "cannot read the configuration")):
        done = CliRunner().invoke(app, ["--config", str(config), "serve"])
        assert done.exit_code == 1
        assert said in done.output


def test_an_engine_that_cannot_start_says_why_and_what_to_do(tmp_path: Path) -> None:
    away = f'[engine]\nstore = "postgresql://nobody@/none?host={tmp_path}"\n{MODEL}'
    for text, event, code in (
        (away, "the store cannot be used", 1),
        ("", "no language model", os.EX_CONFIG),
    ):
        (tmp_path / "pgparley.toml").write_text(text, encoding="utf-8")
        with capture_logs() as told, pytest.raises(SystemExit) as ended:
            run(load(tmp_path / "pgparley.toml", {}).engine_settings())
        assert ended.value.code == code
        assert told[-1]["event"] == event
        assert told[-1]["hint"]


def test_a_store_that_is_away_ends_nothing(upstream: Cluster, tmp_path: Path) -> None:
    """The gateway relays meanwhile, and the engine is started again and again, more and more slowly."""
    file, log = tmp_path / "pgparley.toml", tmp_path / "log"
    store = "postgresql://nobody@127.0.0.1:1/none"
    engine = f'[engine]\nsocket = "{tmp_path}/e.sock"\nstore = "{store}"\n'
    file.write_text(relaying(upstream) + engine + MODEL, encoding="utf-8")
    with log.open("wb") as output:
        process = subprocess.Popen(command(file, "serve"), cwd=ROOT, stdout=output, stderr=output)  # noqa: S603 - our own program
    try:
        session = connected(port_of(file))
        deadline = time.monotonic() + 60
        while log.read_text().count("starting it again") < 2:
            assert session.execute("SELECT 1").fetchone() == (1,)
            assert time.monotonic() < deadline
        session.close()
        assert process.poll() is None
        assert "the store cannot be used" in log.read_text()
        assert "Traceback" not in log.read_text()
    finally:
        process.terminate()
        assert process.wait(30) == 0
