"""A language model that takes a scripted time and writes the right statement.

    python -m benchmarks.capacity.model PORT SECONDS

What it does is changed while it runs: `POST /mode` with seconds a call, or `fail` (every call is a 500).
"""

from __future__ import annotations

import asyncio
import re
import sys

from aiohttp import web

STATEMENT = "SELECT count(*) FROM singer WHERE "

_AGE = re.compile(r"older than (\d+)")


class Scripted:
    """Answers with the statement that the last question of a prompt asks for."""

    def __init__(self, mode: str) -> None:
        self._mode = mode

    async def chat(self, request: web.Request) -> web.Response:
        """A completion, after the scripted time."""
        ages = _AGE.findall(str((await request.json())["messages"]))
        if self._mode == "fail":
            raise web.HTTPInternalServerError
        await asyncio.sleep(float(self._mode))
        condition = f"age > {ages[-1]}" if ages else "false"
        message = {"role": "assistant", "content": STATEMENT + condition + "\n```"}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}
        usage = {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "usage": usage}
        return web.json_response({**reply, "choices": [choice]})

    async def mode(self, request: web.Request) -> web.Response:
        """Takes the new mode."""
        self._mode = await request.text()
        return web.Response()


def main() -> None:
    """Serves until SIGTERM."""
    scripted = Scripted(sys.argv[2])
    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", scripted.chat), web.post("/mode", scripted.mode)])
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
