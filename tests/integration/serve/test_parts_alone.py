"""`pgparley serve gateway` and `pgparley serve engine` as processes of their own, as a service manager runs them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest

from pgparley.cluster import Cluster
from tests.conftest import ROOT
from tests.support.parts import command, connected, outcomes, part, port_of, relaying


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


def test_a_model_without_its_file_ends_and_says_what_to_do(config: Path) -> None:
    with config.open("a", encoding="utf-8") as file:
        file.write(f'[embedded_model]\npath = "{config.parent}/none.gguf"\n')
    words = command(config, "serve", "model")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert done.stderr.endswith("\nRun: pgparley check model\n")
    assert "Traceback" not in done.stderr
