"""`pgparley serve gateway` and `pgparley serve engine` as processes of their own, as a service manager runs them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import psycopg
import pytest

from pgparley.cluster import Cluster
from tests.conftest import ROOT, free_port
from tests.support.parts import command, connected, outcomes, part


@pytest.fixture
def config(upstream: Cluster, store: str, tmp_path: Path) -> Path:
    file = tmp_path / "pgparley.toml"
    file.write_text(
        f"""[gateway]
upstream_host = "{upstream.socket_dir}"
upstream_port = {upstream.port}
listen_port = {free_port()}
[engine]
socket = "{tmp_path}/e.sock"
store = "{store}"
[model]
base_url = "http://127.0.0.1:1/v1"
""",
        encoding="utf-8",
    )
    return file


def test_a_gateway_relays_without_an_engine(config: Path) -> None:
    port = int(config.read_text("utf-8").partition("listen_port = ")[2].split()[0])
    with part(config, "gateway"):
        session = connected(port)
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
