"""One gateway worker: its start and stop, and the requests of its siblings and of the console.

The state that its connections share is in `context`; the steps of a reload and of a shutdown are in `reload` and
`shutdown`. Does not know the protocol.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proxy.console.reports import WorkerReport
from proxy.console.tables import Value
from proxy.console.views import ConsoleSnapshot
from proxy.net import access, pump
from proxy.net.client import sockets
from proxy.net.client.listener import Listener
from proxy.net.ports import ShutdownMode
from proxy.net.worker import reload, worker_commands
from proxy.net.worker.context import GatewayContext
from proxy.net.worker.shutdown import WorkerShutdown
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerChannel, WorkerRequest
from proxy.settings import GatewaySettings, described

VERSION = "pgparley 0.1.0"

_TLS_HINT = (
    "Passwords, questions and rows can be read on the way. Set client_tls_sslmode = require with client_tls_cert_file"
    " and client_tls_key_file, or listen_addr = 127.0.0.1."
)


@dataclass(frozen=True, slots=True)
class WorkerPlacement:
    """How a worker is placed in its gateway. `sockets`: descriptors to listen on; empty: it binds its own.

    `supervisor`: the process that decides about the end of all workers, None where the worker is alone.
    """

    sockets: tuple[int, ...] = ()
    supervisor: int | None = None


STANDALONE = WorkerPlacement()
"""A worker that binds its own sockets and has no supervisor."""


class Worker:
    """Serves clients on one event loop from `start` to `stop`."""

    def __init__(
        self,
        settings: GatewaySettings,
        placement: WorkerPlacement = STANDALONE,
        reread: Callable[[], GatewaySettings] | None = None,
    ) -> None:
        """`reread`: gives the settings anew, for RELOAD; raises ValueError or OSError where they are bad."""
        self.context = GatewayContext(settings, self._ask_others)
        self._placement = placement
        self._reread = reread
        self._listener: Listener | None = None
        self._channel: WorkerChannel | None = None
        self._shutdown = WorkerShutdown(self.context, self._stop_listening)

    # -- life

    async def start(self) -> None:
        """Listens.

        Raises:
            OSError: The address cannot be bound, or the runtime directory cannot be used.
        """
        context = self.context
        settings = context.settings
        context.pump = pump.start()
        if settings.runtime_dir:
            name = f"gateway-{os.getpid()}.sock"
            self._channel = WorkerChannel(Path(settings.runtime_dir), name, self.handle)
            await self._channel.open()
        await context.loans.open()
        self._listener = Listener(context, self, self._sockets())
        await self._listener.open()
        relay = "python" if context.pump is None else "compiled"
        context.log.info(
            "listening", addresses=settings.listen_addr, port=self.port, pid=os.getpid(), relay=relay
        )
        self._warn()

    def _warn(self) -> None:
        """Logs settings that are likely mistakes: readable secrets, and clients without TLS."""
        context = self.context
        for file in access.readable_by_others(context.settings):
            context.log.warning("secrets_readable_by_others", file=file, hint="chmod 600")
        exposed = () if self._listener is None else self._listener.exposed
        if exposed and context.access.client_tls is None:
            context.log.warning("clients_without_tls", addresses=exposed, hint=_TLS_HINT)

    def _sockets(self) -> list[socket.socket]:
        if self._placement.sockets:
            return [socket.socket(fileno=descriptor) for descriptor in self._placement.sockets]
        settings = self.context.settings
        found = sockets.bind(settings)
        if settings.unix_socket_dir:
            port = found[0].getsockname()[1] if found else settings.listen_port
            found.append(sockets.bind_unix(settings, port))
        return found

    @property
    def port(self) -> int:
        """The TCP port that the worker listens on."""
        if self._listener is None:
            raise RuntimeError("the worker is not started")
        return self._listener.port

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()

    @property
    def ended(self) -> asyncio.Event:
        """Set when the worker wants to be stopped."""
        return self._shutdown.ended

    async def stop(self) -> None:
        """Stops listening, lets sessions end for `shutdown_grace` seconds, then ends them."""
        context = self.context
        await self._shutdown.finish()
        await context.tasks.end()
        context.login_service.close()
        await context.engine.close()
        context.audit.close()
        pump.stop(context.pump)
        await context.loans.close()
        if self._channel is not None:
            await self._channel.close()
        context.log.info("stopped")

    def shut_down(self, how: ShutdownMode) -> None:
        """Begins to end, as SHUTDOWN does; a second time, or `NOW`, ends at once."""
        self._shutdown.begin(how)

    async def shut_all_down(self, how: ShutdownMode) -> None:
        """SHUTDOWN on the console: by the supervisor where there is one, else by a request to all workers."""
        if self._placement.supervisor is not None:
            os.kill(self._placement.supervisor, _SIGNALS[how])
        else:
            await self.ask_all(WorkerRequest("shutdown", how.value))

    def reload(self) -> str | None:
        """Reads the settings and their files anew. Returns why that failed; everything is then as before."""
        problem = reload.reload(self.context, self._reread)
        if problem is None:
            self._warn()
        return problem

    def assign(self, key: str, value: str) -> str | None:
        """Changes one setting until the next `reload`. Returns why that failed."""
        return reload.assign(self.context, key, value)

    # -- siblings and the console

    async def ask_all(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Asks all workers."""
        return [await self.handle(request), *await self._ask_others(request)]

    async def _ask_others(self, request: WorkerRequest) -> list[WorkerAnswer]:
        return [] if self._channel is None else await self._channel.ask_others(request)

    async def handle(self, request: WorkerRequest) -> WorkerAnswer:
        """Carries out a request of a sibling, or of this worker's own console."""
        return worker_commands.perform(self, request)

    def snapshot(self, reports: tuple[WorkerReport, ...]) -> ConsoleSnapshot:
        """The values that the console's tables are built from."""
        settings = self.context.settings
        return ConsoleSnapshot(
            version=VERSION,
            upstream_host=settings.upstream_host,
            upstream_port=settings.upstream_port,
            max_client_conn=settings.max_client_conn,
            config=described(settings),
            reports=reports,
        )

    async def engine_rows(self, view: str) -> tuple[tuple[Value, ...], ...]:
        """The rows of a view that the engine provides. Raises NLError where it does not answer."""
        context = self.context
        table = await context.engine.view(view, timeout=context.settings.server_connect_timeout)
        return table.rows


_SIGNALS = {
    ShutdownMode.NOW: signal.SIGQUIT,
    ShutdownMode.WAIT_FOR_CLIENTS: signal.SIGTERM,
    ShutdownMode.WAIT_FOR_SERVERS: signal.SIGINT,
}
