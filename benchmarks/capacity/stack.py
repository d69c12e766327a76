"""The installation that is measured: PostgreSQL for data and store, the scripted model, and `pgparley serve`.

Owns starting and stopping them, and which process is which. The store is a server of its own, so that it can be
restarted, or its disk filled, while the data stays.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psycopg

from benchmarks.harness.machine import ROOT
from benchmarks.harness.processes import HOST, free_port, postgres, process, until
from engine.app.client import EngineAddress, EngineClient
from pgparley import cluster
from pgparley.cluster import Cluster

SINGERS = 1_000_000
"""Rows of `singer`, one of each age, so that how many are older than N is a number that only the question about N has.

Asked are the last ages: a statement reads some thousand entries of an index, and what a question takes is pgparley's.
"""

GROUPS = Path("/sys/fs/cgroup/cpu")
"""The processors' control groups, version 1."""

_START = 180.0


@dataclass(frozen=True, slots=True)
class Stack:
    """What runs. `store`: the server of the engine's state. `model`: its port. `supervisor`: `pgparley serve`."""

    data: Cluster
    store: Cluster
    port: int
    model: int
    folder: Path
    supervisor: subprocess.Popen[bytes]

    def pids(self, part: str) -> list[int]:
        """The processes of `gateway` or `engine`, as `pgparley serve` has them now."""
        words = b"pgparley.processes\0" + part.encode()
        return [pid for pid in _descendants(self.supervisor.pid) if words in _command(pid)]

    async def script(self, mode: str) -> None:
        """What the scripted model does from now on: see `benchmarks.capacity.model`."""
        async with aiohttp.ClientSession() as session:
            await session.post(f"http://127.0.0.1:{self.model}/mode", data=mode)

    async def engine_ready(self, seconds: float = _START) -> None:
        """Returns once the engine has loaded what the first question needs; raises `TimeoutError`."""
        async with (
            asyncio.timeout(seconds),
            EngineClient(EngineAddress(f"{self.folder}/engine.sock")) as engine,
        ):
            while not await engine.ready():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.2)


@contextmanager
def serving(
    folder: Path, *, connections: int, waiting: int, seconds: float, store: Path | None = None
) -> Iterator[Stack]:
    """A stack whose state is below `folder`, or its store's in `store`. `seconds`: of the scripted model, a call."""
    with ExitStack() as stack:
        data = postgres(folder / "data", f"-h '' -c max_connections={connections + 50}")
        stack.callback(cluster.stop, data)
        kept = postgres(store or folder / "store", "-h ''")
        stack.callback(cluster.stop, kept)
        _fill(data)
        port, model = free_port(), free_port()
        file = folder / "pgparley.toml"
        values = {"data": data, "store": kept.dsn(), "port": port, "model": model, "folder": folder}
        template = Path(__file__).with_name("pgparley.toml").read_text(encoding="utf-8")
        file.write_text(template.format(**values, connections=connections, waiting=waiting), encoding="utf-8")
        scripted = [sys.executable, "-m", "benchmarks.capacity.model", str(model), str(seconds)]
        stack.enter_context(process(scripted))
        for words in (("store", "migrate"), ("catalog", "add", "music", "--dsn", data.dsn("music"))):
            subprocess.run([*_pgparley(file), *words], cwd=ROOT, check=True, capture_output=True)
        serve = [*_pgparley(file), "serve"]
        supervisor = stack.enter_context(process(serve, log=folder / "serve.log"))
        made = Stack(data, kept, port, model, folder, supervisor)
        asyncio.run(made.engine_ready())
        until(lambda: _relayed(port), supervisor, _START)
        yield made


@contextmanager
def weighed(stack: Stack, weight: int) -> Iterator[None]:
    """Gives the engine this CPUWeight (systemd.resource-control), and gateway, PostgreSQL and this process 100 each.

    As systemd does for units, by control groups. Raises `OSError` where they cannot be made: as root, and of version 1.
    """
    own = os.getpid()
    servers = [
        int((each.data_dir / "postmaster.pid").read_text().split()[0]) for each in (stack.data, stack.store)
    ]
    model = [pid for pid in _descendants(own) if b"benchmarks.capacity.model" in _command(pid)]
    groups = {
        "engine": (weight, stack.pids("engine")),
        "gateway": (100, stack.pids("gateway")),
        "server": (100, [pid for server in servers for pid in (server, *_descendants(server))]),
        "clients": (100, [own, *model]),
    }
    made = []
    try:
        for name, (share, pids) in groups.items():
            folder = GROUPS / f"pgparley-capacity-{own}-{name}"
            folder.mkdir()
            made.append(folder)
            (folder / "cpu.shares").write_text(str(share * 1024 // 100))
            for pid in pids:
                (folder / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for folder in made:
            for held in (folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):
                    (GROUPS / "cgroup.procs").write_text(held)
            folder.rmdir()


def _fill(data: Cluster) -> None:
    with psycopg.connect(data.dsn(), autocommit=True) as admin:
        if admin.execute("SELECT FROM pg_database WHERE datname = 'music'").fetchone():
            return
        admin.execute("CREATE ROLE analyst LOGIN")
        admin.execute("CREATE DATABASE music")
    with psycopg.connect(data.dsn("music"), autocommit=True) as music:
        music.execute("CREATE TABLE singer (singer_id int PRIMARY KEY, name text, age int)")
        rows = "INSERT INTO singer SELECT n, 'Singer ' || n, n FROM generate_series(1, %s) n"
        music.execute(rows, (SINGERS,))
        music.execute("CREATE INDEX ON singer (age)")
        music.execute("GRANT SELECT ON singer TO analyst")
        music.execute("VACUUM ANALYZE singer")


def _pgparley(file: Path) -> list[str]:
    return [sys.executable, "-m", "pgparley.cli", "--config", str(file)]


def _relayed(port: int) -> bool:
    try:
        psycopg.connect(host=HOST, port=port, user="analyst", dbname="music").close()
    except psycopg.OperationalError:
        return False
    return True


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for each in (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()):
        try:
            parent = int(Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid:
            found += [each, *_descendants(each)]
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
