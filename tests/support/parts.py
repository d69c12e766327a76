"""Parts of an installation as processes of their own, as a service manager runs them.

Owns starting and ending them, and what `pgparley check` says of a configuration.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import psycopg
from typer.testing import CliRunner

from engine.app.client import EngineAddress, EngineClient
from pgparley.cli import app
from pgparley.cluster import Cluster
from tests.conftest import ROOT, free_port

START = 120.0
"""Seconds within which a part is up: the engine loads its models."""


def command(config: Path, *arguments: str) -> list[str]:
    """The command line with a configuration."""
    return [sys.executable, "-m", "pgparley.cli", "--config", str(config), *arguments]


def pgparley(config: Path, *arguments: str) -> str:
    """What a command writes, run in this process; it has to succeed."""
    done = CliRunner().invoke(app, ["--config", str(config), *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def relaying(cluster: Cluster) -> str:
    """The settings of a gateway in front of the server, on a port of its own."""
    server = f'upstream_host = "{cluster.socket_dir}"\nupstream_port = {cluster.port}\n'
    return f"[gateway]\n{server}listen_port = {free_port()}\n"


def port_of(config: Path) -> int:
    """Where the gateway of a configuration listens."""
    return int(config.read_text("utf-8").partition("listen_port = ")[2].split()[0])


def register(config: Path, name: str, dsn: str) -> None:
    """Puts a database into the catalog, with everybody's login."""
    pgparley(config, "catalog", "add", name, "--dsn", dsn)
    pgparley(config, "catalog", "login", name, "*")


@contextmanager
def part(config: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A part as a process, which ends by itself when it is told to, unless it was killed in between."""
    process = subprocess.Popen(command(config, "serve", name), cwd=ROOT)  # noqa: S603 - our own program
    try:
        yield process
    finally:
        killed = process.poll() is not None
        process.terminate()
        code = process.wait(30)
    assert killed or code == 0


def outcomes(config: Path) -> dict[str, str]:
    """What `pgparley check gateway` finds, by what it looks at."""
    words = command(config, "check", "gateway", "--json")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)  # noqa: S603 - our own program
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["working"] else 1)
    return {finding["check"]: finding["outcome"] for finding in report["findings"]}


def until_ready(addresses: Sequence[EngineAddress], process: subprocess.Popen[bytes] | None = None) -> None:
    """Waits until all of these engines have loaded what the first question needs; fails where `process` ended."""
    deadline = time.monotonic() + len(addresses) * START
    while not asyncio.run(_are_ready(addresses)):
        assert process is None or process.poll() is None, "it ended"
        assert time.monotonic() < deadline, "not ready in time"
        time.sleep(0.1)


async def _are_ready(addresses: Sequence[EngineAddress]) -> bool:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(EngineClient(each)) for each in addresses]
        return all(await asyncio.gather(*(client.ready() for client in clients)))


def connected(
    port: int, dbname: str = "postgres", user: str = "postgres"
) -> psycopg.Connection[tuple[object, ...]]:
    """A session through the gateway at `port`, which may still be starting."""
    deadline = time.monotonic() + START
    while True:
        try:
            return psycopg.connect(host="127.0.0.1", port=port, user=user, dbname=dbname, autocommit=True)
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
