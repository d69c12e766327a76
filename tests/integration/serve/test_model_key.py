"""The embedded model of `pgparley serve`: it answers the engine, and nobody else on this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from pgparley.cluster import Cluster
from pgparley.processes import PartKind
from tests.conftest import free_port
from tests.support.parts import START
from tests.support.stack import Stack

pytestmark = [pytest.mark.llm, pytest.mark.timeout(3 * START)]

KEY = "PGPARLEY_MODEL_API_KEY="


async def test_it_wants_the_key_that_serve_made(upstream: Cluster, store: str, tmp_path: Path) -> None:
    stack, port = Stack(upstream, tmp_path, free_port()), free_port()
    stack.configure("", nl_timeout=60.0)
    text = stack.config.read_text("utf-8").partition("[model]")[0].replace(upstream.dsn("store"), store)
    stack.config.write_text(f"{text}[embedded_model]\nport = {port}\n", encoding="utf-8")
    key = await asyncio.to_thread(_asked, stack, port)
    assert key not in (tmp_path / "serve.log").read_text("utf-8")


def _asked(stack: Stack, port: int) -> str:
    """The key. The engine is ready once the model has answered it."""
    with stack.serving():
        commands = {each.parent: _words(each) for each in Path("/proc").glob("[0-9]*/cmdline")}
        ours = {place: words for place, words in commands.items() if str(stack.config) in words}
        found = {
            place: [each for each in _words(place / "environ") if each.startswith(KEY)] for place in ours
        }
        (key,) = {each.removeprefix(KEY) for keys in found.values() for each in keys}
        kinds = {word for place in ours if found[place] for word in ours[place]}
        assert kinds & {*PartKind} == {PartKind.MODEL, PartKind.ENGINE}
        assert not [words for words in ours.values() if any(key in word for word in words)]
        assert asyncio.run(_statuses(port, "")) == [200, 401, 401]
        assert asyncio.run(_statuses(port, key[1:])) == [200, 401, 401]
        assert asyncio.run(_statuses(port, key)) == [200, 400, 200]
        return key


def _words(file: Path) -> list[str]:
    try:
        return file.read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


async def _statuses(port: int, key: str) -> list[int]:
    """HTTP's status for health, a completion, and the list of models."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as http:
        replies = [
            await http.get("/health"),
            await http.post("/v1/chat/completions", data=b"{}"),
            await http.get("/v1/models"),
        ]
        return [reply.status for reply in replies]
