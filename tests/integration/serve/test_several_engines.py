"""Two engines over one store behind one gateway: one is killed while it is asked, and nobody loses an answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest
from aiohttp import web

from engine.app.client import EngineAddress
from engine.values.settings import Limits
from pgparley.cluster import Cluster
from tests.chat_server import chat_server, completion
from tests.conftest import free_port
from tests.support.parts import START, connected, part, port_of, register, relaying, until_ready

ASKERS, EACH = 10, 2

_AGE = re.compile(r"older than (\d+)")


class Model:
    """Writes the statement that the last question asks for, once it may. `busy`: as many wait as both engines ask."""

    def __init__(self) -> None:
        self._waiting = 0
        self.busy = asyncio.Event()
        self.may = asyncio.Event()

    async def chat(self, request: web.Request) -> web.Response:
        ages = _AGE.findall(str((await request.json())["messages"]))
        if not ages:  # An engine has it read the schema.
            return completion("nothing")
        self._waiting += 1
        if self._waiting == 2 * Limits().concurrent:
            self.busy.set()
        await self.may.wait()
        return completion(f"SELECT count(*) FROM singer WHERE age > {ages[-1]}\n```")


@pytest.fixture
async def model() -> AsyncIterator[tuple[Model, str]]:
    model = Model()
    async with chat_server(model.chat) as url:
        yield model, url


def configuration(upstream: Cluster, store: str, home: Path, *, name: str, model: str, gateway: str) -> Path:
    """An engine of its own `name`: the one at a socket, the other at an address, for who shows the secret."""
    secret = home / "secret"
    secret.write_text("a secret of gateways and engines\n", encoding="utf-8")
    file = home / f"{name}.toml"
    listen = f'listen = "{name}"\nsecret_file = "{secret}"' if ":" in name else ""
    file.write_text(
        f"""{relaying(upstream)}engine = "{gateway}"
engine_secret_file = "{secret}"
[engine]
socket = "{home}/{name}.sock"
store = "{store}"
{listen}
[model]
base_url = "{model}/v1"
[limits]
run_candidates = false
calls = 1
[dialogue]
questions = 0
abstention = 1.0
""",
        encoding="utf-8",
    )
    return file


@pytest.mark.timeout(4 * START)
async def test_an_engine_is_killed_while_it_is_asked(
    upstream: Cluster, store: str, model: tuple[Model, str], tmp_path: Path
) -> None:
    scripted, url = model
    remote = f"127.0.0.1:{free_port()}"
    gateway = f"{tmp_path}/near.sock, http://{remote}"
    near, far = (
        configuration(upstream, store, tmp_path, name=name, model=url, gateway=gateway)
        for name in ("near", remote)
    )
    port = port_of(near)
    await asyncio.to_thread(register, near, "music", upstream.dsn("music"))
    async with AsyncExitStack() as stack:
        engines = [stack.enter_context(part(each, "engine")) for each in (near, far)]
        stack.enter_context(part(near, "gateway"))
        stack.callback(scripted.may.set)
        addresses = [EngineAddress(f"{tmp_path}/near.sock"), EngineAddress(f"http://{remote}")]
        await asyncio.to_thread(until_ready, addresses)
        session = await asyncio.to_thread(connected, port, "music", "analyst")
        session.close()
        askers = [asyncio.create_task(ask(port, number)) for number in range(ASKERS)]
        await scripted.busy.wait()
        engines[0].kill()
        scripted.may.set()
        for number, answers in enumerate(await asyncio.gather(*askers)):
            assert answers == [(90 - age(number, turn)) for turn in range(EACH)]


async def ask(port: int, number: int) -> list[int]:
    """What an asker's questions, each with a number of its own, count, by what was chosen from each answer."""
    connection = await asyncpg.connect(host="127.0.0.1", port=port, user="analyst", database="music")
    try:
        found = []
        for turn in range(EACH):
            question = f"NL: How many singers are older than {age(number, turn)}"
            row = (await connection.fetch(question))[0]
            assert row["kind"] == "candidate", row
            found.append((await connection.fetch(f"NL CHOOSE 1 OF '{row['qid']}'"))[0][0])
        return found
    finally:
        await connection.close()


def age(number: int, turn: int) -> int:
    return 10 + number * EACH + turn
