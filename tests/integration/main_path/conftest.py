"""Everything as `pgparley serve` runs it: a real server, the real model, the catalog, the engine, the gateway."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from engine.client import EngineAddress, EngineClient
from pgparley import cluster as postgres
from pgparley.cluster import Cluster
from tests.conftest import ROOT, free_port

MUSIC = """
CREATE TABLE singer (singer_id int PRIMARY KEY, name text NOT NULL, country text, age int);
CREATE TABLE concert (concert_id int PRIMARY KEY, title text, year int, singer_id int REFERENCES singer);
INSERT INTO singer VALUES (1, 'Joe', 'France', 52), (2, 'Ann', 'France', 32), (3, 'Tim', 'Japan', 41);
INSERT INTO concert VALUES (1, 'Opening', 2014, 1), (2, 'Summer', 2015, 1), (3, 'Home', 2015, 3);
"""

SHOP = """
CREATE TABLE product (product_id int PRIMARY KEY, name text, price numeric);
CREATE TABLE sale (sale_id int PRIMARY KEY, product_id int REFERENCES product, gross_sales numeric, net_sales numeric);
INSERT INTO product VALUES (1, 'lamp', 20), (2, 'chair', 80);
INSERT INTO sale VALUES (1, 1, 40, 36), (2, 2, 80, 70), (3, 2, 160, 140);
"""


@dataclass(frozen=True)
class Stack:
    """A running stack; `hidden` is a role that may read nothing."""

    cluster: Cluster
    config: Path
    port: int
    socket: Path

    def uri(self, dbname: str, user: str = "analyst") -> str:
        """A connection through the gateway."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{dbname}"

    def pgparley(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command line with this stack's configuration."""
        command = [sys.executable, "-m", "pgparley.cli", "--config", str(self.config), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603


@pytest.fixture(scope="session")
def stack(model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("stack")
    cluster = postgres.start(home / "postgres")
    try:
        _load(cluster)
        running = Stack(cluster, home / "pgparley.toml", free_port(), home / "engine.sock")
        running.config.write_text(_config(running, model_url), encoding="utf-8")
        for name in ("music", "shop"):
            for command in (("add", name, "--dsn", cluster.dsn(name)), ("login", name, "*")):
                done = running.pgparley("catalog", *command)
                assert done.returncode == 0, done.stderr + done.stdout
        with _serving(running):
            yield running
    finally:
        postgres.stop(cluster)


class _serving:  # noqa: N801 - used as a function is
    """`pgparley serve` as a process, from ready to ended."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def __enter__(self) -> None:
        command = [sys.executable, "-m", "pgparley.cli", "--config", str(self._stack.config), "serve"]
        self._process = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ))  # noqa: S603
        deadline = time.monotonic() + 120
        while not asyncio.run(_ready(self._stack.socket)):
            assert self._process.poll() is None, "pgparley serve ended"
            assert time.monotonic() < deadline, "not ready in two minutes"
            time.sleep(0.2)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        assert self._process.wait(30) == 0


async def _ready(socket: Path) -> bool:
    client = EngineClient(EngineAddress(str(socket)))
    try:
        return await client.ready()
    finally:
        await client.close()


def _load(cluster: Cluster) -> None:
    with psycopg.connect(cluster.dsn(), autocommit=True) as admin:
        admin.execute("CREATE ROLE analyst LOGIN")
        admin.execute("CREATE ROLE hidden LOGIN")
        for name in ("music", "shop", "store"):
            admin.execute(f"CREATE DATABASE {name}")
    for name, script in (("music", MUSIC), ("shop", SHOP)):
        with psycopg.connect(cluster.dsn(name), autocommit=True) as connection:
            connection.execute(script)
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst")


def _config(stack: Stack, model_url: str) -> str:
    return f"""
[gateway]
upstream_host = "{stack.cluster.socket_dir}"
upstream_port = {stack.cluster.port}
listen_port = {stack.port}
nl_timeout = 120.0

[engine]
socket = "{stack.socket}"
store = "{stack.cluster.dsn("store")}"

[model]
base_url = "{model_url}"
"""
