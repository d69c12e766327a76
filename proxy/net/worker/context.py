"""The state that the connections of one worker share: settings, the objects made from them, registries and tasks.

Replaces them at a reload. An unknown cancel key is passed to the siblings, and then to the server.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import structlog

from engine.app.engines import Engines
from engine.values.errors import InternalError, NLError
from engine.values.messages import EngineRequest, ErrorReply, QuestionRequest
from proxy.metrics import GatewayMetrics
from proxy.net import access
from proxy.net.access import engine_addresses
from proxy.net.audit_log import AuditLog, AuditTrail
from proxy.net.login_service import LoginService
from proxy.net.session.consultation import LoanListener
from proxy.net.session.session_registry import SessionRegistry
from proxy.net.session.session_traffic import SessionTraffic
from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.prewarmed import PrewarmPool
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerRequest
from proxy.protocol.codec import CancelRequest
from proxy.protocol.commands import EngineReply
from proxy.settings import AuditSettings, GatewaySettings, assigned, changes

if TYPE_CHECKING:
    from proxy.net._pump import Pump


_TO_ANSWER = 2.0
"""Seconds beyond a statement's time in which the engine's answer comes: what was found when the time was over."""


class Tasks:
    """The tasks that run beside the connections."""

    def __init__(self, log: structlog.typing.FilteringBoundLogger) -> None:
        self._log = log
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs `work` as a task that is kept until it ends; a failure is logged."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("task_failed", task=task.get_name(), exc_info=error)

    async def end(self) -> None:
        """Cancels all and waits until they have ended."""
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


_MAX_UNKNOWN_KEYS = 16
"""Cancel requests with an unknown key that are carried out at once: any client can send them."""


class ShutdownMode(StrEnum):
    """How a worker ends."""

    NOW = ""
    WAIT_FOR_CLIENTS = "wait_for_clients"
    WAIT_FOR_SERVERS = "wait_for_servers"


class Admin(Protocol):
    """The worker and its siblings."""

    async def handle(self, request: WorkerRequest) -> WorkerAnswer:
        """Carries out `request` in this worker alone."""

    async def ask_others(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Sends `request` to all other workers and returns their answers."""

    async def ask_all(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """The same to all workers, this one's answer first."""

    async def shut_all_down(self, how: ShutdownMode) -> None:
        """Ends all workers."""


class Cancellable(Protocol):
    """Something that has a cancel key."""

    def cancel_requested(self) -> bool:
        """Cancels what is under way. Returns whether the request has to be sent to the server."""


class CancelKeys:
    """The keys of one worker's sessions and consoles."""

    def __init__(self, context: GatewayContext) -> None:
        self._context = context
        self._unknown_keys = asyncio.Semaphore(_MAX_UNKNOWN_KEYS)
        self.owners: dict[bytes, Cancellable] = {}
        """Key → session or console that it cancels."""

    async def cancel(self, request: CancelRequest) -> None:
        """Carries out a cancel request, at the worker that has the session and at the server. Raises `OSError`."""
        owner = self.owners.get(request.key)
        if owner is None:
            async with self._unknown_keys:
                answers = await self._context.admin.ask_others(WorkerRequest("cancel", request.key.hex()))
                if not any(answer.done for answer in answers):
                    await self._context.dialer.send_once(request.packet)
        elif owner.cancel_requested():
            await self._context.dialer.send_once(request.packet)

    def cancel_for_sibling(self, key: bytes) -> bool:
        """Returns whether the session is ours and the server need not be told."""
        owner = self.owners.get(key)
        return owner is not None and not owner.cancel_requested()


_UPSTREAM = ("upstream_host", "upstream_port", "server_tls_sslmode")
"""Settings of which a change means another server."""

_IDS = 10_000_000
"""Session ids that one process gives out before they repeat."""


class ClosableConnection(Protocol):
    """A connection that is no session: a client that is logging in, or a console."""

    def shut_down(self) -> None:
        """Ends it."""


class GatewayContext:
    """One worker's shared state."""

    def __init__(
        self, settings: GatewaySettings, admin: Admin, audit: AuditSettings, audit_days: float
    ) -> None:
        """`audit_days`: see `AuditLog`, which raises as well."""
        self.settings = settings
        self.admin = admin
        self.metrics = GatewayMetrics()
        self.access = access.load(settings)
        self.dialer = Dialer(settings, self.access.server_tls)
        self.engine = Engines(engine_addresses(settings))
        self.log: structlog.typing.FilteringBoundLogger = structlog.get_logger("proxy")
        self.tasks = Tasks(self.log)
        self.spawn = self.tasks.spawn
        self.audit = AuditLog(audit, self._audit_line_lost, audit_days)
        self._trails: dict[SessionTraffic, AuditTrail] = {}
        self.login_service = LoginService(settings, self.access, self.dialer, self.spawn, self.log)
        self.pump: Pump | None = None
        """The compiled relay; None where it was not built."""
        self.sessions = SessionRegistry()
        self.pending_clients: set[ClosableConnection] = set()
        """Those that have connected and are neither gone nor a session or a console."""
        self.consoles: set[ClosableConnection] = set()
        self.keys = CancelKeys(self)
        self.loans = LoanListener(settings.runtime_dir, settings.lend_addr, self.access.lending)
        self.prewarm_pool = self._prewarm_pool()
        """Sockets to the server that wait for their clients."""
        self.started = time.time()
        """When, in seconds since the epoch."""
        self.shutdown: ShutdownMode | None = None
        """How the worker is ending; None while it is not."""
        self._ids = 0

    def adopt(self, settings: GatewaySettings) -> None:
        """Goes over to `settings`, or changes nothing. Raises `ValueError`, `OSError` and `AccessError`."""
        loaded = access.load(settings)
        if (loaded.client_tls is None) is not (self.access.client_tls is None):
            raise ValueError("client_tls_sslmode: turning TLS on or off needs a restart")
        elsewhere = any(getattr(settings, key) != getattr(self.settings, key) for key in _UPSTREAM)
        self.settings, self.access = settings, loaded
        self.dialer = Dialer(settings, loaded.server_tls)
        self.login_service.configure(settings, loaded, self.dialer)
        self.prewarm_pool.close()
        self.prewarm_pool = self._prewarm_pool()
        if elsewhere:
            self.sessions.mark_outdated("")

    def reload(self, reread: Callable[[], GatewaySettings] | None) -> str | None:
        """Reads the settings and their files anew. Returns why that failed; everything is then as before.

        `reread` gives the settings, and raises ValueError or OSError where they are bad; None: they stay, and their
        files are read.
        """
        try:
            settings = self.settings if reread is None else reread()
            fixed = changes(self.settings, settings)
            self.adopt(settings)
        except (ValueError, OSError, access.AccessError) as problem:
            self.log.warning("reload_failed", error=str(problem))
            return f"RELOAD failed: {problem}"
        for key in fixed:
            self.log.warning("setting_needs_restart", key=key)
        self.log.info("reloaded")
        return None

    def assign(self, key: str, value: str) -> str | None:
        """Changes one setting until the next `reload`. Returns why that failed."""
        try:
            self.adopt(assigned(self.settings, key, value))
        except (ValueError, OSError, access.AccessError) as problem:
            return str(problem)
        return None

    def _prewarm_pool(self) -> PrewarmPool:
        settings = self.settings
        return PrewarmPool(
            self.dialer,
            self.spawn,
            self.metrics,
            limit=settings.dial_ahead,
            lifetime=settings.dial_ahead_lifetime,
        )

    def pause(self, database: str) -> None:
        """New sessions of a database, of all where it is empty, wait from now on."""
        if not database:
            self.prewarm_pool.close_idle()
            self.login_service.close_idle()
        self.sessions.paused.add(database)

    def reconnect(self, database: str) -> None:
        """Dials prewarmed sockets anew, and marks the sessions' connections to be closed as the sessions end."""
        self.prewarm_pool.redial()
        self.login_service.close_idle()
        self.sessions.mark_outdated(database)

    # -- clients on their way in

    def next_id(self) -> int:
        """An id that no other session of any worker has."""
        self._ids = self._ids % (_IDS - 1) + 1
        return os.getpid() * _IDS + self._ids

    def refusal(self, database: str) -> ErrorReply | None:
        """Why no new session of `database` can begin."""
        if self.shutdown not in (None, ShutdownMode.WAIT_FOR_CLIENTS):
            return ErrorReply("57P01", "the gateway is shutting down")
        if database in self.sessions.disabled:
            return ErrorReply("57P03", f'database "{database}" is disabled')
        if len(self.sessions.connections) >= self.settings.max_client_conn:
            return ErrorReply("53300", "no more connections allowed (max_client_conn)")
        return None

    def binding(self, secured: object | None) -> bytes | None:
        """The channel binding data for a client with this TLS connection; None without TLS."""
        return None if secured is None else self.access.binding

    # -- sessions

    def opened(self, connection: SessionTraffic) -> None:
        """A session begins."""
        self.sessions.add(connection)
        self.metrics.sessions.inc()
        self.metrics.sessions_total.inc()

    def closed(self, connection: SessionTraffic, key: bytes | None) -> None:
        """A session has ended; `key` was its cancel key, None where it had none."""
        self.sessions.remove(connection)
        trail = self._trails.pop(connection, None)
        if trail is not None:
            trail.delivered(None)
        if key is not None:
            self.keys.owners.pop(key, None)
        self.metrics.sessions.dec()

    def _audit_line_lost(self) -> None:
        self.metrics.audit_lost.inc()
        self.log.error("audit_line_lost", target=self.audit.target)

    def trail(self, connection: SessionTraffic) -> AuditTrail:
        """The session's lines in the audit log."""
        if connection not in self._trails:
            self._trails[connection] = AuditTrail(connection.client, self.audit)
        return self._trails[connection]

    def statement_failed(self, connection: SessionTraffic, error: ErrorReply) -> None:
        """The session's client gets an error for an NL statement."""
        self.metrics.errors.labels(error.sqlstate).inc()
        self.log.info("nl_failed", sqlstate=error.sqlstate)
        self.trail(connection).failed(error)

    # -- the engine

    async def consult(self, connection: SessionTraffic, request: EngineRequest) -> EngineReply:
        """The engine's reply to a session's request, which leaves its line in the audit log, however it ends.

        An error where the line has to be written first, and could not be.
        """
        trail = self.trail(connection)
        trail.begun(request)
        try:
            reply = await self._reply(request)
        except asyncio.CancelledError:
            trail.dropped()
            raise
        return await trail.answered(reply)

    async def _reply(self, request: EngineRequest) -> EngineReply:
        """Every failure comes as an ErrorReply.

        The engine ends a question itself, with what it has found by then.
        """
        allowed = getattr(request, "timeout", None) or self.settings.nl_timeout
        if isinstance(request, QuestionRequest):
            request = replace(request, timeout=allowed)
        try:
            return await self.engine.consult(request, timeout=allowed + _TO_ANSWER)
        except NLError as error:
            return error.reply()
        except Exception:
            self.log.exception("consult_failed")
            return InternalError("the gateway failed to ask the engine").reply()
