"""An engine whose model server fails: questions are refused at once, operators see it, and it passes by itself."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from aiohttp import web

from engine.client import EngineAddress, EngineClient
from engine.errors import NLError
from engine.types import Asker, AskRequest
from pgparley import cluster
from tests.chat_server import chat_server, completion
from tests.conftest import ROOT
from tests.support.parts import START, command, part, until_ready

QUESTION = "How many singers are older than 30"
FAILURES, PAUSE = 2, 0.5


class Model:
    """Writes one statement, unless it is `away`."""

    def __init__(self) -> None:
        self.away = False
        self.asked = 0

    async def chat(self, _: web.Request) -> web.Response:
        self.asked += 1
        if self.away:
            return web.json_response({"error": {"message": "out of memory"}}, status=500)
        return completion("SELECT count(*) FROM singer WHERE age > 30\n```")


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    running = cluster.start(tmp_path_factory.mktemp("away") / "data")
    with psycopg.connect(running.dsn(), autocommit=True) as admin:
        for statement in ("CREATE ROLE analyst LOGIN", "CREATE DATABASE store", "CREATE DATABASE music"):
            admin.execute(statement)
    with psycopg.connect(running.dsn("music"), autocommit=True) as music:
        music.execute("CREATE TABLE singer (singer_id int PRIMARY KEY, name text, age int)")
        music.execute("GRANT SELECT ON singer TO analyst")
    yield running
    cluster.stop(running)


def configuration(upstream: cluster.Cluster, home: Path, model: str) -> Path:
    file = home / "pgparley.toml"
    file.write_text(
        f"""[engine]
socket = "{home}/engine.sock"
store = "{upstream.dsn("store")}"
[model]
base_url = "{model}/v1"
circuit_failures = {FAILURES}
circuit_pause = {PAUSE}
[limits]
reuse = 0
run_candidates = false
calls = 1
[dialogue]
questions = 0
abstention = 1.0
""",
        encoding="utf-8",
    )
    for arguments in (
        ("store", "migrate"),
        ("catalog", "add", "music", "--dsn", upstream.dsn("music")),
        ("catalog", "login", "music", "*"),
    ):
        subprocess.run(command(file, *arguments), cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    return file


async def asked(client: EngineClient) -> NLError | None:
    try:
        await client.ask(AskRequest(Asker("analyst", "music"), QUESTION), timeout=60)
    except NLError as problem:
        return problem
    return None


@pytest.mark.timeout(2 * START)
async def test_a_model_server_fails_for_a_while(upstream: cluster.Cluster, tmp_path: Path) -> None:
    model = Model()
    async with chat_server(model.chat) as url:
        file = await asyncio.to_thread(configuration, upstream, tmp_path, url)
        with part(file, "engine"):
            address = EngineAddress(f"{tmp_path}/engine.sock")
            await asyncio.to_thread(until_ready, [address])
            async with EngineClient(address) as client:
                assert await asked(client) is None
                assert "pgparley_model_circuit_open 0.0" in await client.metrics()
                model.away = True
                failed = [await asked(client) for _ in range(FAILURES)]
                assert [each and each.sqlstate for each in failed] == ["58000"] * FAILURES
                requests = model.asked
                refused = await asked(client)
                assert refused is not None
                assert model.asked == requests
                assert "has failed 2 times in a row since " in (refused.detail or "")
                assert "out of memory" in (refused.detail or "")
                state = (await client.view("nl_models", timeout=10)).rows[0][3]
                assert str(state).startswith("failed 2 times in a row, at last with: ")
                page = await client.metrics()
                assert "pgparley_model_circuit_open 1.0" in page
                assert "pgparley_model_circuit_opened_total 1.0" in page
                assert await client.ready()
                model.away = False
                async with asyncio.timeout(START):
                    while await asked(client) is not None:
                        pass
                assert (await client.view("nl_models", timeout=10)).rows[0][3] == "ready"
                assert "pgparley_model_circuit_open 0.0" in await client.metrics()
