"""`pgparley serve`, all its parts, with what can never be used: it says so once and ends."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from pgparley.cluster import Cluster
from tests.conftest import ROOT, free_port
from tests.support.parts import command, connected

MODEL = '[model]\nbase_url = "http://127.0.0.1:1/v1"\n'


@pytest.mark.parametrize(
    ("store", "rest", "said"),
    [
        ("nonsense", MODEL, "store in [engine]: "),
        ("postgresql://u:hunter2@host:nope/x", MODEL, "store in [engine]: "),
        ("postgresql://u@host/x?sslmode=nonsense", MODEL, "the store's address cannot be understood"),
        (None, '[embedded_model]\npath = "NONE"\n', "no language model could be loaded"),
        (None, '[embedded_model]\npath = "SELF"\n', "no language model could be loaded"),
        (None, MODEL + '[generation]\nrules_off = ["nonsense"]\n', "nonsense"),
        (None, "nonsense", "is not TOML"),
        (None, '[page]\nlisten = "nonsense"\n', "nonsense"),
        ("FOLDER", "", "cannot read the configuration"),
    ],
)
def test_it_ends_and_says_why(
    upstream_settings: str, tmp_path: Path, store: str | None, rest: str, said: str
) -> None:
    file = tmp_path / "pgparley.toml"
    text = f'{upstream_settings}[engine]\nsocket = "{tmp_path}/e.sock"\nstore = "{store or "postgresql:///x"}"\n{rest}'
    file.write_text(text.replace("NONE", f"{tmp_path}/none").replace("SELF", str(file)), encoding="utf-8")
    words = command(tmp_path if store == "FOLDER" else file, "serve")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert any(line.startswith("pgparley: ") for line in done.stderr.splitlines()[-2:])
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize("part", ["engine", "model", "page"])
def test_a_part_alone_ends_and_says_why(part: str, upstream_settings: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    store = "postgresql://u:hunter2/@?#%zz@host/x"
    key = MODEL + f'api_key_file = "{tmp_path}/none"\n'
    page = '[page]\nlisten = "127.0.0.1:0"\n'
    file.write_text(
        f'{upstream_settings}[engine]\nstore = "{store}"\n{key if part == "model" else MODEL}{page}'
    )
    words = command(file, "serve", part)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2].startswith("pgparley: ")
    assert "process failed" not in done.stderr
    assert "hunter2" not in done.stderr


def test_a_store_that_is_away_ends_nothing(upstream_settings: str, tmp_path: Path) -> None:
    """The gateway relays meanwhile, and the engine is started again and again, more and more slowly."""
    file, log = tmp_path / "pgparley.toml", tmp_path / "log"
    store = "postgresql://nobody@127.0.0.1:1/none"
    file.write_text(
        f'{upstream_settings}[engine]\nsocket = "{tmp_path}/e.sock"\nstore = "{store}"\n{MODEL}',
        encoding="utf-8",
    )
    port = int(upstream_settings.partition("listen_port = ")[2].split()[0])
    with log.open("wb") as output:
        process = subprocess.Popen(command(file, "serve"), cwd=ROOT, stdout=output, stderr=output)  # noqa: S603 - our own program
    try:
        session = connected(port)
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


@pytest.fixture
def upstream_settings(upstream: Cluster) -> str:
    """`[gateway]` in front of the server."""
    return f"""[gateway]
upstream_host = "{upstream.socket_dir}"
upstream_port = {upstream.port}
listen_port = {free_port()}
"""
