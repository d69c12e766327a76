"""The embedded model's server as a process of its own, behind a relay that counts what each question costs."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from benchmarks.harness.journal import Cost
from benchmarks.harness.processes import HOST, free_port, process, until

_TIMEOUT = aiohttp.ClientTimeout(total=600)
_READY = 120.0


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
            async with session.post(meter.target + http.path, json=body) as reply:
                payload = await reply.json()
            if reply.status == web.HTTPOk.status_code:
                meter.count(payload.get("usage") or {})
            return web.json_response(payload, status=reply.status)

        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", relay)
        # A client that gives up stops the work on the model as well.
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, 0).start()
            host, port = runner.addresses[0][:2]
            meter.url = f"http://{host}:{port}/v1"
            yield meter
        finally:
            await runner.cleanup()


@contextmanager
def model_server(meter: Meter, log: Path) -> Iterator[int]:
    """The embedded model's server, with an empty cache, as what `meter` relays to; its process id."""
    port = free_port()
    meter.target = f"http://{HOST}:{port}"
    environment = {**os.environ, "PGPARLEY_EMBEDDED_MODEL_PORT": str(port)}
    command = [sys.executable, "-m", "pgparley.processes", "model"]
    with process(command, log=log, environment=environment) as started:
        until(lambda: _healthy(f"{meter.target}/health"), started, _READY)
        yield started.pid


def _healthy(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=1).close()  # noqa: S310 - our own server
    except (urllib.error.URLError, OSError):
        return False
    return True
