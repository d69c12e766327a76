"""The measurements that are repeated in rounds: each runs one client program against one system."""

from __future__ import annotations

import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.harness.machine import cpu_seconds
from benchmarks.harness.processes import HOST
from benchmarks.wire.systems import DATABASE, USER, Server, System

MODES = ("simple", "extended", "prepared")
CLIENTS = (1, 8, 32)
COPY_TABLE = "COPY pgbench_accounts TO STDOUT"
SELECT_TABLE = "SELECT * FROM pgbench_accounts LIMIT 300000"
STEADY = 3
"""How much longer the runs of many clients are: each opens its sessions, whose servers begin with cold caches where the
relay does not pool, and within one second that is a tenth of what is measured."""
_TPS = re.compile(r"^tps = ([\d.]+)", re.MULTILINE)
_COUNT = re.compile(r"actually processed: (\d+)")


@dataclass(frozen=True, slots=True)
class Sample:
    """One run. `speed`: units a second; `proxy_cpu`: seconds of the relaying processes a unit; latencies in ms."""

    speed: float
    proxy_cpu: float
    p50: float | None = None
    p99: float | None = None


class Cell(Protocol):
    """One measurement."""

    @property
    def name(self) -> str:
        """Unique among the cells."""

    def run(self, server: Server, system: System, seconds: float) -> Sample:
        """Measures `system`, for about `seconds`, or `STEADY` times that, where the cell has no end of its own."""


def _address(system: System) -> list[str]:
    return ["-h", HOST, "-p", str(system.port), "-U", USER]


def _text(command: Sequence[str], folder: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr.strip()}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Pgbench:
    """`pgbench -S`. At one client with every transaction's latency; `reconnect`: a connection a transaction."""

    mode: str
    clients: int
    reconnect: bool = False

    @property
    def name(self) -> str:
        """As the results call it."""
        return f"{'reconnect_' if self.reconnect else ''}{self.mode}_c{self.clients}"

    def run(self, server: Server, system: System, seconds: float) -> Sample:
        """Units are transactions."""
        timed = self.clients == 1 and not self.reconnect
        length = seconds if self.clients == 1 or self.reconnect else seconds * STEADY
        with tempfile.TemporaryDirectory() as folder:
            command = [
                server.tool("pgbench"), "-S", "-n", "-M", self.mode, "-c", str(self.clients), "-j", "1",
                "-T", f"{max(1, round(length))}", *(["-C"] if self.reconnect else []),
                *(["-l", "--log-prefix", "latency"] if timed else []), *_address(system), DATABASE,
            ]  # fmt: skip
            before = cpu_seconds(system.pids)
            out = _text(command, folder)
            cpu = cpu_seconds(system.pids) - before
            latencies = _latencies(Path(folder)) if timed else []
        tps, count = _TPS.search(out), _COUNT.search(out)
        if tps is None or count is None:
            raise RuntimeError(f"pgbench said {out!r}")
        cuts = statistics.quantiles(latencies, n=100) if timed else []
        return Sample(
            speed=float(tps[1]),
            proxy_cpu=cpu / int(count[1]),
            p50=cuts[49] if timed else None,
            p99=cuts[98] if timed else None,
        )


def _latencies(folder: Path) -> list[float]:
    """Milliseconds, from the third column of pgbench's log, which has microseconds."""
    lines = (line for file in folder.glob("latency.*") for line in file.read_text().splitlines())
    return [int(line.split()[2]) / 1000 for line in lines]


@dataclass(frozen=True, slots=True)
class Bulk:
    """A large result through psql, thrown away: the unit is one statement."""

    name: str
    statement: str

    def run(self, server: Server, system: System, seconds: float) -> Sample:
        """Units are statements; as many as fit into `seconds`, one at least."""
        count = 0
        command = [
            server.tool("psql"), "-X", "-q", "-A", "-t", *_address(system), "-d", DATABASE,
            "-o", "/dev/null", "-c", self.statement,
        ]  # fmt: skip
        cpu, began = cpu_seconds(system.pids), time.monotonic()
        while count == 0 or time.monotonic() < began + seconds:
            _text(command, "/")
            count += 1
        elapsed = time.monotonic() - began
        return Sample(count / elapsed, (cpu_seconds(system.pids) - cpu) / count)


def all_cells() -> list[Cell]:
    """Every measurement."""
    return [
        *(Pgbench(mode, clients) for mode in MODES for clients in CLIENTS),
        Pgbench("simple", 8, reconnect=True),
        Bulk("copy_out", COPY_TABLE),
        Bulk("select", SELECT_TABLE),
    ]
