"""/metrics over HTTP: the workers' and the engine's on one page, from the supervisor."""

from __future__ import annotations

import aiohttp
from aiohttp import web

from proxy.metrics import exposition
from proxy.net.worker.worker_ipc import WorkerChannel, WorkerRequest
from proxy.settings import GatewaySettings

_TYPE = "text/plain; version=0.0.4"
_ENGINE_SECONDS = 2.0


class MetricsPage:
    """The page, where `prometheus_listen` names an address."""

    def __init__(self, settings: GatewaySettings, control: WorkerChannel) -> None:
        self._settings = settings
        self._control = control
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Listens, where that is wanted.

        Raises:
            OSError: The address cannot be bound.
            ValueError: It is no `address:port`.
        """
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
        """The engine's own page; nothing, where it does not answer."""
        target = self._settings.engine
        url = target.startswith(("http://", "https://"))
        connector = None if url else aiohttp.UnixConnector(path=target)
        timeout = aiohttp.ClientTimeout(total=_ENGINE_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
                session.get(f"{target.rstrip('/') if url else 'http://engine'}/metrics") as response,
            ):
                return await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError):
            return b""
