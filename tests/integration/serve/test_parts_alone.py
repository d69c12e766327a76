"""`pgparley serve gateway` and `pgparley serve engine` as processes of their own, as a service manager runs them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from aiohttp import web

from pgparley import cluster
from tests.chat_server import chat_server, completion
from tests.conftest import ROOT, free_port
from tests.support.parts import START, command, connected, outcomes, part, until_engine_is


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    running = cluster.start(tmp_path_factory.mktemp("alone") / "data")
    yield running
    cluster.stop(running)


@pytest.fixture
async def config(upstream: cluster.Cluster, tmp_path: Path) -> AsyncIterator[Path]:
    """A configuration with a model server that says yes."""

    async def yes(_: web.Request) -> web.Response:
        return completion("yes")

    file = tmp_path / "pgparley.toml"
    async with chat_server(yes) as model:
        file.write_text(_text(upstream, tmp_path, model), encoding="utf-8")
        yield file


def _text(upstream: cluster.Cluster, folder: Path, model: str) -> str:
    return f"""[gateway]
upstream_host = "{upstream.socket_dir}"
upstream_port = {upstream.port}
listen_port = {free_port()}
[engine]
socket = "{folder}/e.sock"
store = "{upstream.dsn("postgres")}"
[model]
base_url = "{model}/v1"
"""


@pytest.mark.timeout(3 * START)
async def test_the_engine_comes_and_goes_behind_a_gateway_that_relays(config: Path) -> None:
    await asyncio.to_thread(_comes_and_goes, config)


def _comes_and_goes(config: Path) -> None:
    port = int(config.read_text("utf-8").partition("listen_port = ")[2].split()[0])
    with part(config, "gateway"), part(config, "engine"):
        until_engine_is(config, "ok")
    with part(config, "gateway"):
        session = connected(port)
        assert session.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError) as refused:
            session.execute("NL: How many are there?")
        assert refused.value.sqlstate == "58000"
        session.close()
        assert outcomes(config) == {
            "configuration": "ok",
            "logins": "ok",
            "server": "ok",
            "engine": "warning",
        }


async def test_an_engine_without_its_store_ends_and_says_why(config: Path) -> None:
    await asyncio.to_thread(_ends_and_says_why, config)


def _ends_and_says_why(config: Path) -> None:
    config.write_text(config.read_text("utf-8").replace("/postgres?", "/nowhere?"), encoding="utf-8")
    words = command(config, "serve", "engine")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert json.loads(done.stderr.splitlines()[-1])["event"] == "the store cannot be used"


async def test_a_model_without_its_file_ends_and_says_what_to_do(config: Path) -> None:
    await asyncio.to_thread(_model_ends, config)


def _model_ends(config: Path) -> None:
    with config.open("a", encoding="utf-8") as file:
        file.write(f'[embedded_model]\npath = "{config.parent}/none.gguf"\n')
    words = command(config, "serve", "model")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 1
    assert done.stderr.endswith("hint: Run: pgparley check model\n")
    assert "Traceback" not in done.stderr
