"""`pgparley serve`: parts alone, with what can never be used, and with modules planted in their way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from engine.app.main import run
from engine.values.python_process import python_command
from pgparley.cli import app
from pgparley.cluster import Cluster
from pgparley.config import load
from tests.conftest import ROOT, free_port
from tests.support.parts import command, connected, outcomes, part, port_of, relaying
from tests.unit.test_imports import BELOW, BESIDE, modules


@pytest.fixture
def config(upstream: Cluster, store: str, tmp_path: Path) -> Path:
    file = tmp_path / "pgparley.toml"
    engine = f'[engine]\nsocket = "{tmp_path}/e.sock"\nstore = "{store}"\n'
    model = '[model]\nbase_url = "http://127.0.0.1:1/v1"\n'
    file.write_text(relaying(upstream) + engine + model, encoding="utf-8")
    return file


def test_a_gateway_relays_without_an_engine(config: Path) -> None:
    with part(config, "gateway"):
        session = connected(port_of(config))
        assert session.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError) as refused:
            session.execute("NL: How many are there?")
        assert refused.value.sqlstate == "58000"
        session.close()
        assert outcomes(config) == {
            "configuration": "ok",
            "logins": "ok",
            "server": "ok",
            "engine": "warning",
        }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes process namespaces")
def test_any_command_ends_by_sigterm_as_first_process(config: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none?sslmode=disable"
        text = "".join(
            f'store = "{store}"\n' if line.startswith("store") else f"{line}\n"
            for line in config.read_text("utf-8").splitlines()
        )
        config.write_text(text, "utf-8")
        alone = ["/usr/bin/unshare", "--pid", "--fork", "--kill-child", *command(config, "store", "migrate")]
        outside = subprocess.Popen(alone, cwd=ROOT)  # noqa: S603 - our own program
        try:
            silent.settimeout(60)
            connection, _ = silent.accept()
            with connection:
                inside = Path(f"/proc/{outside.pid}/task/{outside.pid}/children").read_text("ascii")
                os.kill(int(inside), signal.SIGTERM)
                assert outside.wait(5) == 128 + signal.SIGTERM
        finally:
            outside.kill()
            outside.wait()


def test_a_model_without_its_file_ends_and_says_what_to_do(config: Path) -> None:
    with config.open("a", encoding="utf-8") as file:
        file.write(f'[embedded_model]\npath = "{config.parent}/none.gguf"\n')
    words = command(config, "serve", "model")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert done.stderr.endswith("\nRun: pgparley check model\n")
    assert "Traceback" not in done.stderr


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


@pytest.mark.parametrize("part", ["engine", "model", "page"])
def test_a_part_alone_ends_and_says_why(part: str, upstream: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    store = "postgresql://u:hunter2/@?#%zz@host/x"
    key = MODEL + f'api_key_file = "{tmp_path}/none"\n'
    page = '[page]\nlisten = "127.0.0.1:0"\n'
    file.write_text(
        f'{relaying(upstream)}[engine]\nstore = "{store}"\n{key if part == "model" else MODEL}{page}'
    )
    words = command(file, "serve", part)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2].startswith("pgparley: ")
    assert "process failed" not in done.stderr
    assert "hunter2" not in done.stderr
