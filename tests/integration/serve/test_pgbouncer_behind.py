"""The gateway in front of PgBouncer, in session and in transaction mode: plain SQL, questions, and what was chosen."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from aiohttp import web

from engine.client import EngineAddress
from pgparley import cluster
from tests.chat_server import chat_server, completion
from tests.conftest import ROOT, free_port
from tests.support import pooler
from tests.support.parts import START, command, connected, part, until_ready

QUESTION = "NL: How many singers are older than 40"
MODES = ("session", "transaction")

pytestmark = [
    pytest.mark.skipif(not pooler.PROGRAM.is_file(), reason="no PgBouncer on this machine: make pooler"),
    pytest.mark.timeout(4 * START),
]


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    running = cluster.start(tmp_path_factory.mktemp("behind") / "data")
    with psycopg.connect(running.dsn(), autocommit=True) as admin:
        for statement in (
            "CREATE ROLE analyst LOGIN",
            *(f"CREATE DATABASE store_{mode}" for mode in MODES),
            "CREATE DATABASE music",
        ):
            admin.execute(statement)
    with psycopg.connect(running.dsn("music"), autocommit=True) as music:
        music.execute("CREATE TABLE singer (singer_id int PRIMARY KEY, name text, age int)")
        music.execute("INSERT INTO singer SELECT n, 'Singer ' || n, n FROM generate_series(1, 90) n")
        music.execute("GRANT SELECT ON singer TO analyst")
    yield running
    cluster.stop(running)


@dataclass(frozen=True)
class Place:
    """`port`: of the gateway. `mode`: PgBouncer's."""

    port: int
    mode: str


@pytest.fixture(params=MODES)
async def place(
    request: pytest.FixtureRequest, upstream: cluster.Cluster, tmp_path: Path
) -> AsyncIterator[Place]:
    async def chat(_: web.Request) -> web.Response:
        return completion("SELECT count(*) FROM singer WHERE age > 40\n```")

    mode, port, file = request.param, free_port(), tmp_path / "pgparley.toml"
    async with chat_server(chat) as model:
        with pooler.pgbouncer(upstream, tmp_path, mode, ("analyst", "postgres")) as behind:
            file.write_text(
                f"""[gateway]
upstream_host = "127.0.0.1"
upstream_port = {behind}
listen_port = {port}
[engine]
socket = "{tmp_path}/e.sock"
store = "{upstream.dsn(f"store_{mode}")}"
[model]
base_url = "{model}/v1"
""",
                encoding="utf-8",
            )
            _run(file, "store", "migrate")
            _run(file, "catalog", "add", "music", "--dsn", upstream.dsn("music"))
            with part(file, "engine"), part(file, "gateway"):
                await asyncio.to_thread(until_ready, [EngineAddress(f"{tmp_path}/e.sock")])
                (await asyncio.to_thread(connected, port, "music", "analyst")).close()
                yield Place(port, mode)


def _run(config: Path, *arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        command(config, *arguments), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def test_a_question_and_what_was_chosen(place: Place) -> None:
    await asyncio.to_thread(_asks_and_chooses, place)


def _asks_and_chooses(place: Place) -> None:
    with connected(place.port, "music", "analyst") as session:
        # As without a gateway: this PgBouncer knows no prepared statements in transaction mode.
        session.prepare_threshold = None
        assert session.execute("SELECT count(*) FROM singer WHERE age > %s", (40,)).fetchone() == (50,)
        row = session.execute(QUESTION).fetchone()
        assert row is not None
        assert row[1:3] == ("candidate", "music")
        assert session.execute(f"NL CHOOSE 1 OF '{row[7]}'").fetchone() == (50,)
        with session.transaction():
            assert session.execute("SELECT name FROM singer WHERE age = %s", (1,)).fetchone() == ("Singer 1",)
            again = session.execute(QUESTION).fetchone()
            assert again is not None
            assert again[1] == "verified"
        rows = session.execute(
            "SELECT kind, sql FROM nl.ask(%s)", (QUESTION.removeprefix("NL: "),)
        ).fetchall()
        assert [kind for kind, _ in rows] == ["verified"], rows
