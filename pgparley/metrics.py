"""/metrics over HTTP: the workers' and the engines' on one page, from the supervisor."""

from __future__ import annotations

import asyncio

from aiohttp import web
from prometheus_client import generate_latest

from engine.app.client import EngineAddress, EngineClient
from proxy.metrics import LabelledPages, exposition
from proxy.net.access import AccessError, engine_addresses
from proxy.net.worker.worker_ipc import WorkerChannel, WorkerRequest
from proxy.settings import GatewaySettings

_TYPE = "text/plain; version=0.0.4"


class MetricsPage:
    """The page, where `prometheus_listen` names an address."""

    def __init__(self, settings: GatewaySettings, control: WorkerChannel) -> None:
        self._settings = settings
        self._control = control
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Listens, where that is wanted. Raises `OSError` and `ValueError`."""
        if not self._settings.prometheus_listen:
            return
        host, _, port = self._settings.prometheus_listen.rpartition(":")
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host.strip("[]") or None, int(port)).start()

    async def close(self) -> None:
        """Listens no more."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _metrics(self, _: web.Request) -> web.Response:
        answers = await self._control.ask_others(WorkerRequest("report"))
        text = exposition(answer.report for answer in answers if answer.report is not None)
        return web.Response(body=text + await self._engines(), headers={"Content-Type": _TYPE})

    async def _engines(self) -> bytes:
        try:
            addresses = engine_addresses(self._settings)
        except AccessError:
            return b""
        pages = await asyncio.gather(*(_page(address) for address in addresses))
        if len(addresses) == 1:
            return pages[0].encode()
        of_engines = dict(zip((each.target for each in addresses), pages, strict=True))
        return generate_latest(LabelledPages("engine", of_engines))


async def _page(address: EngineAddress) -> str:
    async with EngineClient(address) as client:
        return await client.metrics()
