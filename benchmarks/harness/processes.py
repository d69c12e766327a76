"""Servers of a benchmark as processes of their own: started, waited for, ended."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.harness.machine import ROOT
from pgparley import cluster
from pgparley.cluster import Cluster

HOST = "127.0.0.1"
_END = 30.0
"""Seconds until a process that does not end is killed."""


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(
    command: Sequence[str],
    *,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
    account: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, ended at the end. `log`: for what it says; `account`: the user it runs as."""
    with ExitStack() as stack:
        said = subprocess.DEVNULL if log is None else stack.enter_context(log.open("ab"))
        started = subprocess.Popen(
            command, cwd=ROOT, env=environment, user=account, stdout=said, stderr=said, start_new_session=True
        )
        try:
            yield started
        finally:
            started.terminate()
            try:
                started.wait(_END)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def until(ready: Callable[[], bool], started: subprocess.Popen[bytes], seconds: float) -> None:
    """Returns once `ready` says so; raises `RuntimeError` where the process ends first, or after so many seconds."""
    deadline = time.monotonic() + seconds
    while not ready():
        if started.poll() is not None:
            raise RuntimeError(f"{started.args!r} ended with {started.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{started.args!r} was not ready in {seconds:g} s")
        time.sleep(0.05)


def listens(port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection((HOST, port), 1).close()
    except OSError:
        return False
    return True


def postgres(folder: Path, options: str) -> Cluster:
    """A server with its data in `folder`, started with these options of `postgres`."""
    # The wheel knows how to make a cluster as any user, and starts it with its own options.
    made = cluster.start(folder)
    cluster.stop(made)
    start_postgres(made, options)
    return made


def start_postgres(stopped: Cluster, options: str = "-h ''") -> None:
    """Starts a server again; by default at its socket alone."""
    owner = stopped.data_dir.stat()
    given = f"-p {stopped.port} -k {stopped.socket_dir} {options}"
    command: list[str | Path] = [
        stopped.bin_dir / "pg_ctl",
        "-D",
        stopped.data_dir,
        "-w",
        "-l",
        stopped.data_dir / "log",
    ]
    subprocess.run(
        [*command, "-o", given, "start"],
        check=True, stdout=subprocess.DEVNULL, user=owner.st_uid, group=owner.st_gid, cwd="/",
    )  # fmt: skip
