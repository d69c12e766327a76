"""docs/quickstart.md: its commands as they stand, but for two ports, on a server that wants passwords."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from engine.app.client import EngineAddress
from pgparley import cluster
from pgparley.config import load
from tests.chat_server import chat_server_beside, completion
from tests.conftest import ROOT, free_port
from tests.support.parts import until_ready
from tests.support.statements import execute_now
from tests.wire_fixtures import LoopThread, loop_thread

__all__ = ["loop_thread"]

PAGE = (ROOT / "docs" / "quickstart.md").read_text("utf-8")
OWN = ROOT / "tests" / "fixtures" / "own_database"
PASSWORD = "secret"
ENOUGH = 240.0
"""Seconds for the engine to start and for an answer of the embedded model."""


def blocks(kind: str) -> list[str]:
    """The commands of the page, a step each."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The port of a server on TCP, and its programs' folder: with the database `own`, a superuser, an asker, a DBA."""
    data, port = tmp_path / "pg", free_port()
    first = cluster.start(data)
    roles = (
        f"{do} PASSWORD '{PASSWORD}'"
        for do in ("ALTER ROLE postgres", "CREATE ROLE ana LOGIN", "CREATE ROLE dora LOGIN")
    )
    execute_now(first.dsn(), *roles, "CREATE DATABASE own")
    granted = "GRANT USAGE ON SCHEMA erp, crm TO ana; GRANT SELECT ON ALL TABLES IN SCHEMA erp, crm TO ana"
    execute_now(first.dsn("own"), (OWN / "schema.sql").read_text("utf-8"), granted)
    cluster.stop(first)
    (data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n", "utf-8")

    def control(*words: str) -> None:
        command = [str(first.bin_dir / "pg_ctl"), "-D", str(data), "-w", "-l", str(data / "log"), *words]
        owner = data.stat().st_uid if os.getuid() == 0 else None
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=owner, cwd="/")  # noqa: S603

    control("-o", f"-h 127.0.0.1 -p {port} -k ''", "start")
    yield port, first.bin_dir
    control("-m", "immediate", "stop")
    shutil.rmtree(data)


class Terminal:
    """A shell in a folder of its own, where `pgparley` is this checkout's, and the two ports of the page are others."""

    def __init__(self, home: Path, port: int, model: str, programs_of_server: Path) -> None:
        self.home = home
        self.ports = {"5432": str(port), "6432": str(free_port())}
        programs = home / "bin"
        programs.mkdir()
        (programs / "pgparley").write_text(
            f'#!/bin/sh\nexec {sys.executable} -m pgparley.cli "$@"\n', "utf-8"
        )
        (programs / "pgparley").chmod(0o755)
        self.environment = os.environ | {
            "PATH": f"{programs}:{programs_of_server}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PGPASSWORD": PASSWORD,
            "XDG_RUNTIME_DIR": str(home),
            "PGPARLEY_MODEL_BASE_URL": model,
        }

    def started(self, command: str) -> subprocess.Popen[str]:
        """The command as the page has it; where it names no port, the defaults are given."""
        command = command.strip()
        for documented, ours in self.ports.items():
            command = command.replace(documented, ours)
        if command.startswith("pgparley init"):
            command += f" --server 127.0.0.1:{self.ports['5432']} --listen 127.0.0.1:{self.ports['6432']}"
        return subprocess.Popen(  # noqa: S602 - the page's own commands
            command,
            shell=True,
            cwd=self.home,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, command: str, seconds: float = 60.0) -> str:
        """What it writes; it has to succeed."""
        process = self.started(command)
        said, _ = process.communicate(timeout=seconds)
        assert process.returncode == 0, said
        return said


async def counting(_: web.Request) -> web.Response:
    """What a good model writes for the page's question."""
    return completion("SELECT count(*) FROM erp.prod\n```")


@pytest.fixture(
    params=["scripted", pytest.param("embedded", marks=[pytest.mark.llm, pytest.mark.slow])],
)
def model(request: pytest.FixtureRequest, loop_thread: LoopThread) -> Iterator[str]:
    """The base URL of a model."""
    if request.param == "embedded":
        yield request.getfixturevalue("model_url")
    else:
        with chat_server_beside(loop_thread, counting) as url:
            yield f"{url}/v1"


@pytest.mark.timeout(900)
def test_five_steps(tmp_path: Path, server: tuple[int, Path], model: str) -> None:
    """The page's five steps, to the right rows, and what it says to say next."""
    install, init, serve, add, ask = blocks("sh")
    assert install.splitlines()[0].startswith("pip install"), "this checkout is installed"
    port, programs = server
    terminal = Terminal(tmp_path, port, model, programs)
    made = terminal.run(init)
    assert "made: CREATE DATABASE pgparley_store OWNER pgparley;" in made
    assert (tmp_path / "pgparley.toml").stat().st_mode & 0o777 == 0o600
    serving = terminal.started(f"exec {serve.strip()} > serve.log 2>&1")
    try:
        assert "30 tables" in terminal.run(add)
        socket = load(tmp_path / "pgparley.toml", terminal.environment).engine.socket
        until_ready([EngineAddress(str(socket))])
        assert "is ready" in terminal.run("pgparley check || true")
        assert terminal.run(ask, ENOUGH).splitlines()[-3:-1] == ["   120", "(1 row)"]
        (said,) = blocks("sql")
        terminal.run(f"psql -h 127.0.0.1 -p {port} -U postgres -c 'GRANT nl_admin TO dora'")
        (tmp_path / "said.sql").write_text(said, "utf-8")
        words = re.search(r"^-- (psql .*)$", said, re.MULTILINE)
        assert words is not None
        answer = terminal.run(f"{words[1]} -v ON_ERROR_STOP=1 -f said.sql")
        assert not re.search("WARNING|ERROR", answer), answer
        finding = terminal.run("pgparley check || true")
        assert "nl_admin, nl_steward" in finding
    finally:
        serving.terminate()
        serving.communicate(timeout=60)
        assert serving.returncode == 0, (tmp_path / "serve.log").read_text("utf-8")
