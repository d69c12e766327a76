"""One gateway worker: what its sessions share, and its listening socket.

Owns the session and key registries, the tasks, startup and shutdown. Does not know the protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import structlog

from engine.client import EngineAddress, EngineClient
from engine.errors import InternalError, NLError
from proxy.metrics import GatewayMetrics
from proxy.net.link import Link
from proxy.net.upstream import Dialer
from proxy.protocol.commands import EngineReply, EngineRequest
from proxy.protocol.inspection import SessionLimits
from proxy.protocol.messages import CancelRequest
from proxy.settings import GatewaySettings


class Worker:
    """Serves clients on one event loop from `start` to `stop`."""

    def __init__(self, settings: GatewaySettings) -> None:
        self.settings = settings
        self.limits = SessionLimits(question_chars=settings.max_question_chars)
        self.metrics = GatewayMetrics()
        self.dialer = Dialer(settings)
        self.engine = EngineClient(EngineAddress(settings.engine))
        self.log: structlog.typing.FilteringBoundLogger = structlog.get_logger("proxy")
        self._server: asyncio.Server | None = None
        self._links: set[Link] = set()
        self._keys: dict[bytes, Link] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    # -- life

    async def start(self) -> None:
        """Listens.

        Raises:
            OSError: The address cannot be bound.
        """
        settings = self.settings
        addresses = [address.strip() for address in settings.listen_addr.split(",")]
        self._server = await asyncio.get_running_loop().create_server(
            lambda: Link(self),
            None if "*" in addresses else addresses,
            settings.listen_port,
            reuse_port=settings.reuse_port,
            backlog=settings.listen_backlog,
        )
        self.log.info("listening", addresses=addresses, port=self.port)

    @property
    def port(self) -> int:
        """The port that the worker listens on."""
        if self._server is None:
            raise RuntimeError("the worker is not started")
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stops listening, lets sessions end for `shutdown_grace` seconds, then ends them."""
        if self._server is not None:
            self._server.close()
        try:
            async with asyncio.timeout(self.settings.shutdown_grace):
                await self._empty.wait()
        except TimeoutError:
            for link in tuple(self._links):
                link.shut_down()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.engine.close()
        self.log.info("stopped")

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs `work` as a task that is kept until it ends."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.log.error("task_failed", task=task.get_name(), exc_info=error)

    # -- sessions

    def opened(self, link: Link) -> None:
        """A client has connected."""
        self._links.add(link)
        self._empty.clear()
        self.metrics.sessions.inc()
        self.metrics.sessions_total.inc()

    def closed(self, link: Link, key: bytes | None) -> None:
        """A client has gone."""
        self._links.discard(link)
        if key is not None:
            self._keys.pop(key, None)
        if not self._links:
            self._empty.set()
        self.metrics.sessions.dec()

    def key_known(self, key: bytes, link: Link) -> None:
        """`key` cancels the statements of `link`."""
        self._keys[key] = link

    async def cancel(self, request: CancelRequest) -> None:
        """Carries out a cancel request: here where only the engine is awaited, at the server otherwise.

        Raises:
            OSError: The server cannot be reached.
        """
        link = self._keys.get(request.key)
        if link is None or link.cancel_requested():
            await self.dialer.send_once(request.packet)

    # -- the engine

    async def consult(self, request: EngineRequest) -> EngineReply:
        """The engine's reply; every failure comes as an ErrorReply."""
        try:
            return await self.engine.consult(request, timeout=self.settings.nl_timeout)
        except NLError as error:
            return error.reply()
        except Exception:
            self.log.exception("consult_failed")
            return InternalError("the gateway failed to ask the engine").reply()
