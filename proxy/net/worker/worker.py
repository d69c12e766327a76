"""One gateway worker: its start and stop, and the requests of its siblings and of the console.

Owns the verbs of `WorkerRequest`, the report, and the steps from SHUTDOWN until no client is connected.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable, Collection
from pathlib import Path

from prometheus_client import generate_latest

from proxy.console.reports import WorkerReport
from proxy.net import access, pump
from proxy.net.client import sockets
from proxy.net.client.listener import Listener
from proxy.net.peers import server_side
from proxy.net.session.session_traffic import SessionTraffic
from proxy.net.worker.context import GatewayContext, ShutdownMode
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerChannel, WorkerRequest, worker_path
from proxy.settings import AuditSettings, GatewaySettings

_POLL_SECONDS = 0.05
"""Seconds between two checks whether sessions are at rest."""

_CLOSE_SECONDS = 1.0
"""Seconds that transports get to flush and close."""

_PENDING_LOGIN_SECONDS = 5.0
"""Seconds that clients that had connected before the shutdown began get to log in."""

_TLS_HINT = (
    "Passwords, questions and rows can be read on the way. Set client_tls_sslmode = require with client_tls_cert_file"
    " and client_tls_key_file, or listen_addr = 127.0.0.1."
)


class Worker:
    """Serves clients on one event loop from `start` to `stop`."""

    def __init__(
        self,
        settings: GatewaySettings,
        descriptors: tuple[int, ...] = (),
        supervisor: int | None = None,
        reread: Callable[[], GatewaySettings] | None = None,
        *,
        audit: AuditSettings = AuditSettings(),  # noqa: B008 - frozen
        audit_days: float = 0.0,
    ) -> None:
        """`descriptors`: of the sockets to listen on, empty: its own. `supervisor`: its process, None for none.

        `reread` gives the settings anew, for RELOAD; raises ValueError or OSError where they are bad. `audit_days`: of
        `[retention] audit`.
        """
        self.context = GatewayContext(settings, self, audit, audit_days)
        self._descriptors = descriptors
        self._supervisor = supervisor
        self._reread = reread
        self._listener: Listener | None = None
        self._channel: WorkerChannel | None = None
        self.ended = asyncio.Event()
        """Set when the worker wants to be stopped."""

    # -- life

    async def start(self) -> None:
        """Listens. Raises `OSError`: the address cannot be bound, or the runtime directory cannot be used."""
        context = self.context
        settings = context.settings
        context.pump = pump.start()
        if settings.runtime_dir:
            path = worker_path(Path(settings.runtime_dir), os.getpid())
            self._channel = WorkerChannel(path.parent, path.name, self.handle)
            await self._channel.open()
        await context.loans.open()
        if context.audit.enabled:
            context.spawn("audit", context.audit.keep())
        self._listener = Listener(context, self._sockets())
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
        if self._descriptors:
            return [socket.socket(fileno=descriptor) for descriptor in self._descriptors]
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

    async def stop(self) -> None:
        """Stops listening, and ends all sessions and other connections."""
        context = self.context
        self._stop_accepting()
        _end(tuple(context.sessions.connections))
        for client in (*context.pending_clients, *context.consoles):
            client.shut_down()
        await self._until_drained()
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
        context = self.context
        context.log.info("shutting_down", how=how.value or "now", sessions=len(context.sessions.connections))
        again, context.shutdown = context.shutdown is not None, how
        self._stop_accepting()
        if how is ShutdownMode.NOW or again:
            self.ended.set()
        else:
            context.spawn("drain", self._drain(how))

    def _stop_accepting(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self.context.prewarm_pool.close()

    async def _drain(self, how: ShutdownMode) -> None:
        """Waits for the last session; `WAIT_FOR_SERVERS` ends each at rest. Clients already connected may log in."""
        context = self.context
        until = time.monotonic() + (_PENDING_LOGIN_SECONDS if how is ShutdownMode.WAIT_FOR_CLIENTS else 0)
        while context.sessions.connections or (context.pending_clients and time.monotonic() < until):
            if how is ShutdownMode.WAIT_FOR_SERVERS:
                _end([each for each in context.sessions.connections if each.session.at_rest])
            await asyncio.sleep(_POLL_SECONDS)
        self.ended.set()

    async def _until_drained(self) -> None:
        context = self.context
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                while not (context.sessions.drained and context.prewarm_pool.drained):  # noqa: ASYNC110 - transports close by themselves
                    await asyncio.sleep(_POLL_SECONDS / 10)

    async def shut_all_down(self, how: ShutdownMode) -> None:
        """SHUTDOWN on the console: by the supervisor where there is one, else by a request to all workers."""
        if self._supervisor is not None:
            os.kill(self._supervisor, _SIGNALS[how])
        else:
            await self.ask_all(WorkerRequest("shutdown", how.value))

    def reload(self) -> str | None:
        """Reads the settings and their files anew. Returns why that failed; everything is then as before."""
        problem = self.context.reload(self._reread)
        if problem is None:
            self._warn()
        return problem

    # -- siblings and the console

    async def ask_all(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Asks all workers."""
        return [await self.handle(request), *await self.ask_others(request)]

    async def ask_others(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Asks all but this one."""
        return [] if self._channel is None else await self._channel.ask_others(request)

    async def handle(self, request: WorkerRequest) -> WorkerAnswer:
        """Carries out a request of a sibling, or of this worker's own console; an unknown one is an error."""
        act = _VERBS.get(request.verb)
        return act(self, request.argument) if act else WorkerAnswer(error=f"unknown request {request.verb}")


_SIGNALS = {
    ShutdownMode.NOW: signal.SIGQUIT,
    ShutdownMode.WAIT_FOR_CLIENTS: signal.SIGTERM,
    ShutdownMode.WAIT_FOR_SERVERS: signal.SIGINT,
}


def _set(worker: Worker, assignment: str) -> WorkerAnswer:
    key, _, value = assignment.partition("=")
    return _outcome(worker.context.assign(key, value))


def _kill(worker: Worker, database: str) -> WorkerAnswer:
    worker.context.pause(database)
    return _end(worker.context.sessions.of_database(database))


def _end(connections: Collection[SessionTraffic]) -> WorkerAnswer:
    for connection in connections:
        connection.shut_down()
    return WorkerAnswer(done=bool(connections))


def _outcome(problem: str | None) -> WorkerAnswer:
    return WorkerAnswer(done=problem is None, error=problem)


def _done(act: Callable[[Worker, str], object]) -> Callable[[Worker, str], WorkerAnswer]:
    """A verb that applies to every worker."""

    def carry_out(worker: Worker, argument: str) -> WorkerAnswer:
        act(worker, argument)
        return WorkerAnswer(done=True)

    return carry_out


_VERBS: dict[str, Callable[[Worker, str], WorkerAnswer]] = {
    "cancel": lambda worker, key: WorkerAnswer(worker.context.keys.cancel_for_sibling(bytes.fromhex(key))),
    "disable": _done(lambda worker, database: worker.context.sessions.disabled.add(database)),
    "enable": _done(lambda worker, database: worker.context.sessions.disabled.discard(database)),
    "kill": _kill,
    "kill_client": lambda worker, number: _end(worker.context.sessions.of_client(int(number))),
    "pause": _done(lambda worker, database: worker.context.pause(database)),
    "ping": _done(lambda *_: None),
    "reconnect": _done(lambda worker, database: worker.context.reconnect(database)),
    "reload": lambda worker, _: _outcome(worker.reload()),
    "report": lambda worker, _: WorkerAnswer(done=True, report=report(worker.context)),
    "resume": lambda worker, database: WorkerAnswer(worker.context.sessions.resume(database)),
    "set": _set,
    "shutdown": _done(lambda worker, how: worker.shut_down(ShutdownMode(how))),
}


def report(context: GatewayContext) -> WorkerReport:
    """The worker's sessions, counts and metrics at this moment."""
    sessions = context.sessions
    period, recent = sessions.recent()
    sockets = context.prewarm_pool.waiting
    context.metrics.spares.set(len(sockets))
    context.metrics.sessions_max.set(context.settings.max_client_conn)
    return WorkerReport(
        pid=os.getpid(),
        started=context.started,
        sessions=sessions.reports(),
        traffic=tuple(sessions.traffic().values()),
        recent=recent,
        period=period,
        paused=tuple(sessions.paused),
        disabled=tuple(sessions.disabled),
        logins=len(context.pending_clients),
        memory=_resident(),
        metrics=generate_latest(context.metrics.registry).decode(),
        prewarmed=tuple(server_side(each.transport, each.connected) for each in sockets),
    )


def _resident() -> int:
    """Bytes of memory that this process has in use (proc(5)); 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as source:  # noqa: PTH123 - one read of the kernel's
            return int(source.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0
