"""`pgparley demo`: from nothing to five answered questions in a real psql.

Owns the order of the steps and the judging of the answers. Everything it starts is what `pgparley serve` and
the other commands start; it keeps its files in one directory, so that a second run finds them.
"""

from __future__ import annotations

import asyncio
import csv
import os
import re
import socket
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from rich.console import Console

from engine.client import EngineAddress, EngineClient
from pgparley import cluster as postgres
from pgparley.cluster import Cluster
from pgparley.demo.prepare import ANALYST, prepare
from pgparley.demo.questions import QUESTIONS, Question, answers
from pgparley.model import fetch

ENOUGH = 4
"""Questions of the five whose database and rows must be right for the demo to succeed."""

READY_TIMEOUT = 180.0
"""Seconds for the model and the engine to start."""

STORE = "pgparley"

_CONFIG = """\
[gateway]
upstream_host = "{socket_dir}"
upstream_port = {port}
listen_port = {listen_port}

[engine]
socket = "{engine_socket}"
store = "{store}"
"""


@dataclass(frozen=True, slots=True)
class Running:
    """What the demo has started."""

    cluster: Cluster
    config: Path
    port: int
    engine_socket: Path


async def run(cache: Path, *, keep: bool) -> int:
    """Runs the demo and returns its exit code: 0 where at least `ENOUGH` questions were answered rightly."""
    console = Console(highlight=False, soft_wrap=True)
    home = Path(tempfile.gettempdir()) / f"pgparley-demo-{os.getuid()}"
    console.rule("1. The language model")
    model = await asyncio.to_thread(fetch, cache / "models")
    console.print(f"{model.name} is in {model.parent}")
    console.rule("2. PostgreSQL and five sample databases")
    cluster = postgres.start(home / "postgres")
    console.print(f"PostgreSQL listens on the Unix socket {cluster.socket_dir}, data in {cluster.data_dir}")
    try:
        databases = await prepare(cluster, console)
        config = await _configure(home, cluster)
        console.rule("3. The catalog")
        await _register(config, databases)
        async with _serving(config, home, keep=keep, console=console) as running:
            right = await _ask_all(running, console)
            _say_how_to_connect(running, console, keep=keep)
    finally:
        if not keep:
            postgres.stop(cluster)
    console.print(f"\n{right} of {len(QUESTIONS)} questions: the right database first and the right rows.")
    return 0 if right >= ENOUGH else 1


async def _configure(home: Path, cluster: Cluster) -> Path:
    """Writes the configuration file and makes the store's database."""
    admin = await asyncpg.connect(cluster.dsn())
    try:
        if not await admin.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", STORE):
            await admin.execute(f"CREATE DATABASE {STORE}")
    finally:
        await admin.close()
    file = home / "pgparley.toml"
    file.write_text(
        _CONFIG.format(
            socket_dir=cluster.socket_dir,
            port=cluster.port,
            listen_port=_listen_port(),
            engine_socket=home / "engine.sock",
            store=cluster.dsn(STORE),
        ),
        encoding="utf-8",
    )
    return file


def _listen_port() -> int:
    """6432, PgBouncer's port, or a free one where that is taken."""
    with socket.socket() as probe:
        for port in (6432, 0):
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port")


async def _register(config: Path, databases: tuple[tuple[str, str], ...]) -> None:
    """`pgparley catalog add` for each database, or `refresh` where it is registered."""
    listed = await _pgparley(config, "catalog", "list", "--json", quiet=True)
    for name, dsn in databases:
        command = ["refresh", name] if f'"{name}"' in listed else ["add", name, "--dsn", dsn]
        await _pgparley(config, "catalog", *command)


async def _pgparley(config: Path, *arguments: str, quiet: bool = False) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pgparley.cli", "--config", str(config), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    if not quiet:
        sys.stdout.write(output)
    if process.returncode != 0:
        raise RuntimeError(f"pgparley {' '.join(arguments[:2])} failed: {output}")
    return output


@asynccontextmanager
async def _serving(config: Path, home: Path, *, keep: bool, console: Console) -> AsyncIterator[Running]:
    """`pgparley serve`, from ready until the end, or for good where `keep`."""
    console.rule("4. The gateway, the engine and the model")
    log = home / "serve.log"
    text = config.read_text(encoding="utf-8")
    port = int(re.findall(r"listen_port = (\d+)", text)[0])
    running = Running(postgres.start(home / "postgres"), config, port, home / "engine.sock")
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pgparley.cli", "--config", str(config), "serve"),
            stdout=output,
            stderr=output,
            start_new_session=keep,
        )
    (home / "serve.pid").write_text(str(process.pid), encoding="utf-8")
    try:
        began = time.monotonic()
        with console.status("starting; the model takes a few seconds to load"):
            await _until_ready(running, process, log)
        console.print(f"Ready in {time.monotonic() - began:.1f} s; the log is {log}")
        yield running
    finally:
        if not keep:
            process.terminate()
            await process.wait()


async def _until_ready(running: Running, process: asyncio.subprocess.Process, log: Path) -> None:
    client = EngineClient(EngineAddress(str(running.engine_socket)))
    try:
        async with asyncio.timeout(READY_TIMEOUT):
            while not await client.health():
                if process.returncode is not None:
                    raise RuntimeError(f"pgparley serve ended at once; see {log}")
                await asyncio.sleep(0.25)
    finally:
        await client.close()


async def _ask_all(running: Running, console: Console) -> int:
    """Asks every question through psql, chooses the first candidate, and counts what was right."""
    console.rule("5. Five questions through psql")
    console.print(f"$ psql {_conninfo(running)}\n")
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, question in enumerate(QUESTIONS, 1):
            answer = Path(folder) / f"answer-{number}.csv"
            rows = Path(folder) / f"rows-{number}.csv"
            began = time.monotonic()
            console.print(await _psql(running, _script(question, answer, rows)), markup=False, end="")
            verdict = await _judge(running.cluster, question, answer, rows)
            right += verdict == "right"
            console.print(f"-- {verdict}, {time.monotonic() - began:.1f} s\n", style="dim", markup=False)
    return right


def _script(question: Question, answer: Path, rows: Path) -> str:
    """What the analyst types, and each result once more as CSV for the judge."""
    return (
        f"NL: {question.text}\n;\n"
        "NL CHOOSE 1;\n"
        "\\set ECHO none\n"
        f"NL SHOW \\g (format=csv) {answer}\n"
        f"NL CHOOSE 1 \\g (format=csv) {rows}\n"
    )


async def _psql(running: Running, script: str) -> str:
    """The output of one psql that reads `script` as if it were typed."""
    process = await asyncio.create_subprocess_exec(
        *(str(running.cluster.bin_dir / "psql"), "-X", "--echo-queries", "--pset=linestyle=unicode"),
        *("--pset=format=wrapped", "--pset=columns=140", _conninfo(running)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    return (await process.communicate(script.encode()))[0].decode()


async def _judge(cluster: Cluster, question: Question, answer: Path, rows: Path) -> str:
    """ "right", or what was wrong: compares with the hand-written statements, run directly on the database."""
    if not answer.exists() or not rows.exists():
        return "no answer"
    with answer.open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file), None)
    if first is None or first["database"] != question.database:
        return f"wrong database: {first['database'] if first else 'none'}"
    with rows.open(encoding="utf-8", newline="") as file:
        got = list(csv.reader(file))[1:]
    direct = await asyncpg.connect(cluster.dsn(question.database))
    try:
        for statement in question.gold:
            if answers(got, [tuple(row) for row in await direct.fetch(statement)]):
                return "right"
    finally:
        await direct.close()
    return "other rows than the hand-written statements give"


def _conninfo(running: Running) -> str:
    return f"postgresql://{ANALYST}@127.0.0.1:{running.port}/postgres"


def _say_how_to_connect(running: Running, console: Console, *, keep: bool) -> None:
    console.rule("6. Your turn")
    psql = running.cluster.bin_dir / "psql"
    if keep:
        console.print("Everything is still running. Connect with any PostgreSQL client, for example:")
        console.print(f"  {psql} {_conninfo(running)}")
        console.print("  NL: how many airports are there in Iceland?")
        console.print(f"Stop it: kill $(cat {running.config.parent / 'serve.pid'}); ", end="")
        console.print(f"kill -INT $(head -1 {running.cluster.data_dir / 'postmaster.pid'})")
    else:
        console.print("make demo ARGS=--keep leaves everything running. Then connect with any PostgreSQL client:")
        console.print(f"  {psql} {_conninfo(running)}")
