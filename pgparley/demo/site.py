"""Where the demo keeps what, and how to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pgparley.cluster import Cluster
from pgparley.demo.prepare import ANALYST


@dataclass(frozen=True, slots=True)
class Site:
    """One demo: its directory, its server, the ports of the gateway and of the page."""

    home: Path
    cluster: Cluster
    port: int
    page_port: int = 0

    @property
    def config(self) -> Path:
        """The configuration that `pgparley serve` gets."""
        return self.home / "pgparley.toml"

    @property
    def engine_socket(self) -> Path:
        """The engine's Unix socket."""
        return self.home / "engine.sock"

    @property
    def log(self) -> Path:
        """What `pgparley serve` writes."""
        return self.home / "serve.log"

    @property
    def pid_file(self) -> Path:
        """The process to end."""
        return self.home / "serve.pid"

    @property
    def psql(self) -> Path:
        """The client that belongs to the server."""
        return self.cluster.bin_dir / "psql"

    @property
    def psqlrc(self) -> Path:
        """How psql shows answers."""
        return self.home / "psqlrc"

    @property
    def page(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.page_port}/"

    @property
    def uri(self) -> str:
        """The analyst's connection through the gateway, to a database that holds no sample."""
        return f"postgresql://{ANALYST}@127.0.0.1:{self.port}/postgres"
