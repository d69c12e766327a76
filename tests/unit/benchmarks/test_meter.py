"""The relay counts what the server says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from aiohttp import web

from benchmarks.harness.journal import Cost
from benchmarks.harness.model import Meter, metering
from tests.chat_server import USAGE, chat_server, completion


@pytest.fixture
async def served() -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A server that always says the same, its address, and what it was sent."""
    bodies: list[dict[str, Any]] = []

    async def chat(http: web.Request) -> web.Response:
        bodies.append(await http.json())
        if bodies[-1]["model"] == "absent":
            return web.json_response({"error": {"message": "no such model"}}, status=400)
        return completion("SELECT 1", USAGE | {"prompt_tokens_details": {"cached_tokens": 7}})

    async with chat_server(chat) as address:
        yield address, bodies


async def ask(meter: Meter, **options: Any) -> str | None:
    async with openai.AsyncOpenAI(base_url=meter.url, api_key="none", max_retries=0) as client:
        arguments: dict[str, Any] = {"model": "m", **options}
        reply = await client.chat.completions.create(messages=[{"role": "user", "content": "?"}], **arguments)
    return reply.choices[0].message.content


async def test_calls_and_tokens_are_counted_until_taken(served: tuple[str, list[dict[str, Any]]]) -> None:
    async with metering() as meter:
        meter.target = served[0]
        assert await ask(meter) == "SELECT 1"
        await ask(meter)
        assert meter.take(2.5) == Cost(2.5, calls=2, prefilled=6, cached=14, generated=8)
        assert meter.take(1.0) == Cost(1.0)
