"""What is compared: one PostgreSQL, reached directly, through PgBouncer, and through the gateway.

Owns starting and stopping them. Clients reach all of them over TCP on loopback; PgBouncer and the gateway reach
the server over its Unix socket.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgparley import cluster
from pgparley.cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
DATABASE = "bench"
USER = "postgres"
SCALE = 10
CONNECTIONS = 5000
_START_SECONDS = 30.0
INSTALL_PGBOUNCER = "PgBouncer is not installed (apt-get install pgbouncer): measuring without it."


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


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres(folder: Path) -> Iterator[Server]:
    """A server with the tables of pgbench in it; it keeps its data in `folder` and stops at the end."""
    # The wheel knows how to make a cluster as any user, but its server has no TCP port: start it once more.
    made = cluster.start(folder)
    cluster.stop(made)
    port = free_port()
    owner = folder.stat()
    options = (
        f"-h {HOST} -p {port} -k {made.socket_dir} -c max_connections={CONNECTIONS} -c shared_buffers=512MB"
    )
    subprocess.run(
        [made.bin_dir / "pg_ctl", "-D", folder, "-w", "-l", folder / "log", "-o", options, "start"],
        check=True, stdout=subprocess.DEVNULL, user=owner.st_uid, group=owner.st_gid, cwd="/",
    )  # fmt: skip
    server = Server(Cluster(folder, made.bin_dir, made.socket_dir, port), port)
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
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )[0]


@contextmanager
def pgbouncer(server: Server, folder: Path) -> Iterator[System]:
    """PgBouncer in session mode, with its defaults otherwise."""
    port = free_port()
    users, file = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text(f'"{USER}" ""\n')
    lines = [
        "[databases]",
        f"{DATABASE} = host={server.cluster.socket_dir} port={server.port}",
        "[pgbouncer]",
        f"listen_addr = {HOST}",
        f"listen_port = {port}",
        "unix_socket_dir =",
        "auth_type = trust",
        f"auth_file = {users}",
        "pool_mode = session",
        f"max_client_conn = {CONNECTIONS}",
        f"default_pool_size = {CONNECTIONS}",
        "log_connections = 0",
        "log_disconnections = 0",
    ]
    file.write_text("\n".join(lines) + "\n")
    folder.chmod(0o755)
    # It refuses to run as root; the server's account may use the server's socket.
    account = server.cluster.data_dir.stat().st_uid
    command = ["pgbouncer", "-q", str(file)]
    with _process(command, port, account=account) as pid:
        yield System("pgbouncer", port, (pid,))


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
    with _process(command, port, environment) as first, _others(command, environment, workers - 1) as others:
        yield System(f"gateway_{workers}", port, (first, *others))


@contextmanager
def _others(command: list[str], environment: dict[str, str], count: int) -> Iterator[list[int]]:
    started = [
        subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True) for _ in range(count)
    ]
    # Nothing tells when one of several listeners stands; a second is four times what one needs.
    time.sleep(2.0 if count else 0.0)
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            _end(process)


@contextmanager
def _process(
    command: list[str], port: int, environment: dict[str, str] | None = None, account: int | None = None
) -> Iterator[int]:
    process = subprocess.Popen(command, env=environment, cwd=ROOT, user=account, stdout=subprocess.DEVNULL)
    try:
        _until_listening(port, process)
        yield process.pid
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _until_listening(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with {process.returncode}")
        try:
            socket.create_connection((HOST, port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{process.args} did not listen in {_START_SECONDS:g} s")
