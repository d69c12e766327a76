"""Gateway and engine as processes, as `pgparley serve` runs them, in front of a server of a test.

Owns their configuration, starting and stopping them. Does not create databases, nor start the server or a model.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from engine.client import EngineAddress, EngineClient
from pgparley.cluster import Cluster
from tests.conftest import ROOT

START = 120.0
"""Seconds within which everything is up: the engine loads its encoder."""


@dataclass(frozen=True, slots=True)
class Stack:
    """`home`: a folder for its files. `port`: where the gateway listens. The server has a database `store`."""

    cluster: Cluster
    home: Path
    port: int

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.home / "pgparley.toml"

    @property
    def _socket(self) -> Path:
        return self.home / "engine.sock"

    def uri(self, dbname: str, role: str = "analyst") -> str:
        """A connection through the gateway."""
        return f"postgresql://{quote(role, safe='')}@127.0.0.1:{self.port}/{dbname}"

    def configure(self, model: str, nl_timeout: float, *, grammar: str = "structured_outputs") -> None:
        """Writes the configuration. `model`: the address of its API; `nl_timeout` in seconds."""
        self.config.write_text(
            f"""
[gateway]
upstream_host = "{self.cluster.socket_dir}"
upstream_port = {self.cluster.port}
listen_port = {self.port}
nl_timeout = {nl_timeout}

[engine]
socket = "{self._socket}"
store = "{self.cluster.dsn("store")}"

[model]
base_url = "{model}"
grammar = "{grammar}"
""",
            encoding="utf-8",
        )

    def pgparley(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command line with this stack's configuration."""
        return subprocess.run(  # noqa: S603
            self._command(*arguments), capture_output=True, text=True, check=False, cwd=ROOT
        )

    def catalog(self, *arguments: str) -> None:
        """Runs `pgparley catalog …`, which has to succeed."""
        done = self.pgparley("catalog", *arguments)
        assert done.returncode == 0, done.stderr + done.stdout

    @contextmanager
    def serving(self) -> Iterator[None]:
        """`pgparley serve` as a process, from ready to ended; what it says is in `serve.log`."""
        log = self.home / "serve.log"
        with log.open("wb") as file:
            process = subprocess.Popen(self._command("serve"), cwd=ROOT, stderr=file, stdout=file)  # noqa: S603
        try:
            deadline = time.monotonic() + START
            while not asyncio.run(self._ready()):
                assert process.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < deadline, "not ready in time"
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            code = process.wait(30)
        assert code == 0, log.read_text("utf-8")

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "pgparley.cli", "--config", str(self.config), *arguments]

    async def _ready(self) -> bool:
        async with EngineClient(EngineAddress(str(self._socket))) as client:
            return await client.ready()
