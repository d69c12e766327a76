"""Two engines, one of them on a machine that goes; run by `tests/unit/engine/test_engines.py` in a network of its own.

vanishing_engine.py engine URL     answers nothing but that it is ready
vanishing_engine.py client         writes three lines of seconds: while it thinks, while connecting, the next one
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from engine.app.client import EngineAddress
from engine.app.engines import Engines
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, RowKind

FAR, NEAR = "http://10.9.0.2:8000", "http://10.9.0.1:8000"


async def serve(url: str, *, thinks: bool) -> None:
    """Listens at `url`; `thinks`: without an end, where it is asked."""

    async def ask(_: web.Request) -> web.Response:
        if thinks:
            print("asked", flush=True)  # noqa: T201
            await asyncio.Event().wait()
        row = AnswerRow(1, RowKind.CANDIDATE, None, None, url, None, None, "q1")
        return web.Response(body=msgspec.json.encode(AskReply("q1", (row,))))

    async def ready(_: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/ask", ask)
    app.router.add_get("/ready", ready)
    runner = web.AppRunner(app)
    await runner.setup()
    address = urlsplit(url)
    await web.TCPSite(runner, address.hostname, address.port).start()


async def client() -> None:
    """Asks while the other machine thinks and goes, once more where it is not known to be gone, and once more."""
    await serve(NEAR, thinks=False)
    engines = Engines([EngineAddress(FAR), EngineAddress(NEAR)])
    names = (f"db{number}" for number in range(100))
    name = next(each for each in names if engines._order(each)[0].address == FAR)
    request = AskRequest(Asker("ana", name), "?")
    while not await _far_is_ready():
        pass
    asking = asyncio.create_task(_seconds(engines, request))
    await asyncio.to_thread(_wait_for_line)
    # From now on what is sent to it arrives nowhere, and nobody says so.
    gone = "ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:01 nud permanent dev near"
    subprocess.run(gone.split(), check=True)  # noqa: ASYNC221, S603
    thinking = await asking
    fresh = Engines([EngineAddress(FAR), EngineAddress(NEAR)])
    connecting = await _seconds(fresh, request)
    print(thinking, connecting, await _seconds(fresh, request), sep="\n")  # noqa: T201
    await engines.close()
    await fresh.close()


async def _far_is_ready() -> bool:
    engines = Engines([EngineAddress(FAR)])
    try:
        return await engines.ready()
    finally:
        await engines.close()


async def _seconds(engines: Engines, request: AskRequest) -> float:
    began = time.monotonic()
    reply = await engines.consult(request, timeout=30.0)
    assert isinstance(reply, AskReply)
    assert reply.rows[0].explanation == NEAR
    return time.monotonic() - began


def _wait_for_line() -> None:
    """Until the other machine says that it has been asked."""
    sys.stdin.readline()


async def _engine(url: str) -> None:
    await serve(url, thinks=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_engine(sys.argv[2]) if sys.argv[1] == "engine" else client())
