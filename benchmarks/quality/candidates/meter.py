"""A relay in front of the model server that counts what each question costs, the same way for every system.

Owns the counting, and the one thing that the embedded server lacks and a peer relies on: `stop`. It is given to the
server as a grammar (anything, up to the words), so that generation ends there.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from benchmarks.quality.candidates.journal import Cost

_TIMEOUT = aiohttp.ClientTimeout(total=600)


@dataclass(slots=True)
class Counted:
    """Calls and tokens since the last `take`."""

    calls: int = 0
    prefilled: int = 0
    cached: int = 0
    generated: int = 0


@dataclass(slots=True)
class Meter:
    """Relays to `target`, a server's root. `url`: what a client is told as the base of the OpenAI protocol."""

    target: str = ""
    url: str = ""
    counted: Counted = field(default_factory=Counted)

    def take(self, seconds: float) -> Cost:
        """What was counted, with the seconds it took; counting begins anew."""
        done, self.counted = self.counted, Counted()
        return Cost(seconds, done.calls, done.prefilled, done.cached, done.generated)

    def count(self, usage: dict[str, Any]) -> None:
        """Adds the `usage` of one reply."""
        prompt = int(usage.get("prompt_tokens", 0))
        cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
        self.counted.calls += 1
        self.counted.prefilled += prompt - cached
        self.counted.cached += cached
        self.counted.generated += int(usage.get("completion_tokens", 0))


@asynccontextmanager
async def metering() -> AsyncIterator[Meter]:
    """A meter that listens on loopback."""
    meter = Meter()
    async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:

        async def relay(http: web.Request) -> web.Response:
            body = json.loads(await http.read())
            stops = _stopped_by_grammar(body)
            async with session.post(meter.target + http.path, json=body) as reply:
                payload = await reply.json()
            if reply.status == web.HTTPOk.status_code:
                meter.count(payload.get("usage") or {})
                _cut(payload, stops)
            return web.json_response(payload, status=reply.status)

        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", relay)
        # A client that gives up stops the work on the model as well.
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0][:2]
            meter.url = f"http://{host}:{port}/v1"
            yield meter
        finally:
            await runner.cleanup()


def _stopped_by_grammar(body: dict[str, Any]) -> tuple[str, ...]:
    """Turns `stop` into a grammar where there is none; gives the words."""
    stop = body.pop("stop", None) or ()
    stops = (stop,) if isinstance(stop, str) else tuple(stop)
    if len(stops) == 1 and "structured_outputs" not in body:
        words = json.dumps(stops[0])
        body["structured_outputs"] = {"grammar": f"start: text\ntext[stop={words}]: /(.|\\n)*/\n"}
    return stops


def _cut(payload: dict[str, Any], stops: tuple[str, ...]) -> None:
    for choice in payload.get("choices", ()):
        for stop in stops:
            message = choice["message"]
            message["content"] = message["content"].split(stop, maxsplit=1)[0]
