"""A chat server for tests: an address, and a function that says what it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from tests.wire_fixtures import LoopThread

Handler = Callable[[web.Request], Awaitable[web.Response]]

USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}


def completion(text: str, usage: dict[str, Any] = USAGE) -> web.Response:
    """A chat completion that says `text`."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
        "logprobs": None,
    }
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return web.json_response(reply | {"usage": usage})


@asynccontextmanager
async def chat_server(chat: Handler, models: Handler | None = None) -> AsyncIterator[str]:
    """Serves `chat`, and the list `models`, on a free port; the address has no path."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    if models is not None:
        app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextmanager
def chat_server_beside(loop: LoopThread, chat: Handler) -> Iterator[str]:
    """As `chat_server`, in a thread of its own, for fixtures that outlive a test's loop."""
    serving = chat_server(chat)
    yield loop.run(serving.__aenter__())
    loop.run(serving.__aexit__(None, None, None))
