"""Gateway and engine as processes, as `pgparley serve` runs them, in front of a server of a test.

Owns their configuration, starting and stopping them. Does not create databases, nor start the server or a model.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from engine.app.client import EngineAddress
from pgparley.cluster import Cluster
from tests.conftest import ROOT
from tests.support.parts import command, pgparley, register, until_ready


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
    def socket(self) -> Path:
        """The engine's."""
        return self.home / "engine.sock"

    def uri(self, dbname: str, role: str = "analyst") -> str:
        """A connection through the gateway."""
        return f"postgresql://{quote(role, safe='')}@127.0.0.1:{self.port}/{dbname}"

    def configure(self, model: str | int, nl_timeout: float, *, grammar: str = "structured_outputs") -> None:
        """Writes the configuration. `model`: its address, or the embedded one's port; `nl_timeout` in seconds."""
        served = f"[embedded_model]\nport = {model}\n"
        if isinstance(model, str):
            served = f'[model]\nbase_url = "{model}"\ngrammar = "{grammar}"\n'
        self.config.write_text(
            f"""
[gateway]
upstream_host = "{self.cluster.socket_dir}"
upstream_port = {self.cluster.port}
listen_port = {self.port}
nl_timeout = {nl_timeout}

[engine]
socket = "{self.socket}"
store = "{self.cluster.dsn("store")}"

{served}""",
            encoding="utf-8",
        )

    def pgparley(self, *arguments: str) -> str:
        """What a command writes with this stack's configuration; it has to succeed."""
        return pgparley(self.config, *arguments)

    def register(self, name: str, role: str | None = None) -> None:
        """Puts a database of the server, read as `role`, into the catalog, with everybody's login."""
        register(self.config, name, self.cluster.dsn(name, role))

    @contextmanager
    def serving(self) -> Iterator[None]:
        """`pgparley serve` as a process, from ready to ended; what it says is in `serve.log`."""
        log = self.home / "serve.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command(self.config, "serve"), cwd=ROOT, stderr=file, stdout=file)  # noqa: S603
        try:
            until_ready([EngineAddress(str(self.socket))], process)
            yield
        finally:
            process.terminate()
            code = process.wait(30)
        assert code == 0, log.read_text("utf-8")
