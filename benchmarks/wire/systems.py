"""What is compared: one PostgreSQL, reached directly, through PgBouncer, and through the gateway.

Owns starting and stopping them. Clients reach all of them over TCP on loopback; PgBouncer and the gateway reach
the server over its Unix socket.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.harness import processes
from benchmarks.harness.processes import HOST, free_port, listens, process, until
from pgparley import cluster
from pgparley.cluster import Cluster

DATABASE = "bench"
USER = "postgres"
SCALE = 10
CONNECTIONS = 5000
_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class System:
    """One way to the server. `pids`: the relaying processes."""

    name: str
    port: int
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Server:
    """The PostgreSQL server behind all of them."""

    cluster: Cluster
    port: int

    @property
    def pid(self) -> int:
        """Of the postmaster."""
        return int((self.cluster.data_dir / "postmaster.pid").read_text().split()[0])

    def tool(self, name: str) -> str:
        """The path of one of the server's own client programs."""
        return str(self.cluster.bin_dir / name)


@contextmanager
def postgres(folder: Path) -> Iterator[Server]:
    """A server with the tables of pgbench in it; it keeps its data in `folder` and stops at the end."""
    port = free_port()
    options = f"-h {HOST} -p {port} -c max_connections={CONNECTIONS} -c shared_buffers=512MB"
    made = processes.postgres(folder, options)
    server = Server(replace(made, port=port), port)
    try:
        _fill(server)
        yield server
    finally:
        cluster.stop(server.cluster)


def _fill(server: Server) -> None:
    address = ["-h", str(server.cluster.socket_dir), "-p", str(server.port), "-U", USER]
    psql = [server.tool("psql"), "-X", "-A", "-t", "-q", *address]
    count = f"SELECT count(*) FROM pg_database WHERE datname = '{DATABASE}'"  # noqa: S608 - a constant
    if subprocess.run([*psql, "-c", count], capture_output=True, text=True, check=True).stdout.strip() == "0":
        subprocess.run([*psql, "-c", f"CREATE DATABASE {DATABASE}"], check=True)
        load = [server.tool("pgbench"), "-i", "-q", "-s", str(SCALE), *address, DATABASE]
        subprocess.run(load, check=True, capture_output=True)
    # Hint bits set and pages cached: the first reader is no slower than the last.
    subprocess.run([*psql, "-d", DATABASE, "-c", "VACUUM ANALYZE"], check=True)
    subprocess.run([*psql, "-d", DATABASE, "-c", "CHECKPOINT"], check=True)


def pgbouncer_version() -> str | None:
    """What the installed PgBouncer calls itself; None where there is none."""
    program = shutil.which("pgbouncer")
    if program is None:
        return None
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[0]


@contextmanager
def pgbouncer(server: Server, folder: Path) -> Iterator[System]:
    """PgBouncer in session mode, with its defaults otherwise."""
    port = free_port()
    users, file = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text(f'"{USER}" ""\n')
    file.write_text(
        f"""[databases]
{DATABASE} = host={server.cluster.socket_dir} port={server.port}
[pgbouncer]
listen_addr = {HOST}
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = session
max_client_conn = {CONNECTIONS}
default_pool_size = {CONNECTIONS}
log_connections = 0
log_disconnections = 0
"""
    )
    folder.chmod(0o755)
    # It refuses to run as root; the server's account may use the server's socket.
    account = server.cluster.data_dir.stat().st_uid
    with process(["pgbouncer", "-q", str(file)], account=account) as started:
        until(lambda: listens(port), started, _START_SECONDS)
        yield System("pgbouncer", port, (started.pid,))


@contextmanager
def gateway(server: Server, engine: Path, workers: int) -> Iterator[System]:
    """Worker processes of the gateway as `pgparley serve` starts them."""
    port = free_port()
    environment = {
        **os.environ,
        "PGPARLEY_GATEWAY_UPSTREAM_HOST": str(server.cluster.socket_dir),
        "PGPARLEY_GATEWAY_UPSTREAM_PORT": str(server.port),
        "PGPARLEY_GATEWAY_LISTEN_PORT": str(port),
        "PGPARLEY_GATEWAY_REUSE_PORT": "true",
        "PGPARLEY_GATEWAY_MAX_CLIENT_CONN": str(CONNECTIONS),
        "PGPARLEY_GATEWAY_ENGINE": str(engine),
        "PGPARLEY_GATEWAY_SHUTDOWN_GRACE": "0",
        "PGPARLEY_GATEWAY_LOG_LEVEL": "error",
    }
    command = [sys.executable, "-m", "pgparley.processes", "gateway"]
    with ExitStack() as stack:
        first = stack.enter_context(process(command, environment=environment))
        until(lambda: listens(port), first, _START_SECONDS)
        others = [stack.enter_context(process(command, environment=environment)) for _ in range(workers - 1)]
        # Nothing tells when one of several listeners stands; a second is four times what one needs.
        time.sleep(2.0 if others else 0.0)
        yield System(f"gateway_{workers}", port, (first.pid, *(each.pid for each in others)))
