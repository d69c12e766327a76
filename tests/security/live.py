"""Gateway and engine as `pgparley serve` runs them, in front of the arena, with a model that says what it is told.

Owns starting and stopping them for one server. Each test sets `script` to the statements that the model writes.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
from aiohttp import web

from engine.client import EngineAddress, EngineClient
from tests.chat_server import completion
from tests.conftest import ROOT, free_port
from tests.security.arena import CATALOG
from tests.security.servers import Server

START = 120.0
"""Seconds within which everything is up: the engine loads its encoder."""


@dataclass
class Script:
    """What the model says, statement after statement and round again."""

    statements: tuple[str, ...] = ("SELECT 1",)
    _turn: Iterator[int] = field(default_factory=itertools.count)

    async def chat(self, _: web.Request) -> web.Response:
        """A chat completion."""
        statement = self.statements[next(self._turn) % len(self.statements)]
        return completion(f"{statement}\n```")


@dataclass(frozen=True, slots=True)
class Live:
    """A running stack. `script`: what its model says."""

    server: Server
    script: Script
    config: Path
    port: int
    socket: Path

    def uri(self, role: str, dbname: str = "arena") -> str:
        """A connection through the gateway."""
        return f"postgresql://{quote(role, safe='')}@127.0.0.1:{self.port}/{dbname}"

    def pgparley(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command line with this stack's configuration."""
        command = [sys.executable, "-m", "pgparley.cli", "--config", str(self.config), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603

    def refreshed(self) -> None:
        """Has the catalog read the arena anew: what a test planted is known to the questions after it."""
        done = self.pgparley("catalog", "refresh", "arena")
        assert done.returncode == 0, done.stderr + done.stdout


@contextmanager
def serving(server: Server, home: Path, model: str, script: Script) -> Iterator[Live]:
    """The stack of `server`, from ready to ended; `model`: the address that `script` answers at."""
    live = Live(server, script, home / "pgparley.toml", free_port(), home / "engine.sock")
    with psycopg.connect(server.cluster.dsn(), autocommit=True) as admin:
        admin.execute("CREATE DATABASE store")
    live.config.write_text(_config(live, model), encoding="utf-8")
    added = live.pgparley("catalog", "add", "arena", "--dsn", server.cluster.dsn("arena", CATALOG))
    assert added.returncode == 0, added.stderr + added.stdout
    logged_in = live.pgparley("catalog", "login", "arena", "*")
    assert logged_in.returncode == 0, logged_in.stderr + logged_in.stdout
    command = [sys.executable, "-m", "pgparley.cli", "--config", str(live.config), "serve"]
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stderr=log, stdout=log)  # noqa: S603
    try:
        deadline = time.monotonic() + START
        while not asyncio.run(_ready(live.socket)):
            assert process.poll() is None, (home / "serve.log").read_text("utf-8")
            assert time.monotonic() < deadline, "not ready in time"
            time.sleep(0.2)
        yield live
    finally:
        process.terminate()
        process.wait(30)


async def _ready(socket: Path) -> bool:
    client = EngineClient(EngineAddress(str(socket)))
    try:
        return await client.ready()
    finally:
        await client.close()


def _config(live: Live, model: str) -> str:
    return f"""
[gateway]
upstream_host = "{live.server.cluster.socket_dir}"
upstream_port = {live.server.cluster.port}
listen_port = {live.port}
nl_timeout = 30.0

[engine]
socket = "{live.socket}"
store = "{live.server.cluster.dsn("store")}"

[model]
base_url = "{model}/v1"
grammar = "none"
"""
