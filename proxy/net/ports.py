"""What connections need of the worker that they belong to: one small Protocol for each kind of connection.

The worker's context satisfies all of those for connections, the worker itself `Admin`. Nobody here knows either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import structlog

from engine.types import ErrorReply
from proxy.console.reports import ClientReport, WorkerReport
from proxy.console.tables import Value
from proxy.console.views import ConsoleSnapshot
from proxy.metrics import GatewayMetrics
from proxy.net.access import Access
from proxy.net.cancel_keys import CancelKeys
from proxy.net.login_service import LoginService
from proxy.net.session.consultation import ConsultationContext
from proxy.net.session.session_registry import SessionRegistry, SessionView
from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.prewarmed import PrewarmPool
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerRequest
from proxy.protocol.inspection import SessionLimits
from proxy.settings import GatewaySettings

if TYPE_CHECKING:
    from proxy.net._pump import Pump


class ShutdownMode(StrEnum):
    """How a worker ends."""

    NOW = ""
    WAIT_FOR_CLIENTS = "wait_for_clients"
    WAIT_FOR_SERVERS = "wait_for_servers"


class ClosableConnection(Protocol):
    """A connection that is no session: on its way in, or the console's."""

    def shut_down(self) -> None:
        """Ends it."""


class WorkerRuntime(Protocol):
    """What every connection needs."""

    @property
    def settings(self) -> GatewaySettings:
        """Those in force."""

    @property
    def log(self) -> structlog.typing.FilteringBoundLogger:
        """The worker's log."""

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs `work` as a task that ends with the worker at the latest."""


class DialContext(WorkerRuntime, Protocol):
    """What it takes to reach the server."""

    @property
    def dialer(self) -> Dialer:
        """The way to the server."""

    @property
    def prewarm_pool(self) -> PrewarmPool:
        """Sockets to it that stand already."""

    @property
    def metrics(self) -> GatewayMetrics:
        """The worker's counts."""


class SessionContext(DialContext, ConsultationContext, Protocol):
    """What a session needs."""

    @property
    def limits(self) -> SessionLimits:
        """Of what clients may ask."""

    @property
    def pump(self) -> Pump | None:
        """Relays what passes by itself, where it was built."""

    @property
    def keys(self) -> CancelKeys:
        """Where its cancel key is known."""

    def opened(self, connection: SessionView) -> None:
        """A session begins."""

    def closed(self, connection: SessionView, key: bytes | None) -> None:
        """A session has ended; `key` cancelled what it did."""


class PendingClientContext(WorkerRuntime, Protocol):
    """What a client needs on its way in."""

    @property
    def login_service(self) -> LoginService:
        """Places, secrets and rules of logins."""

    @property
    def dialer(self) -> Dialer:
        """The way to the server."""

    def client_connected(self, client: ClosableConnection) -> None:
        """A client has connected; it is no session yet."""

    def client_left(self, client: ClosableConnection) -> None:
        """It has gone, or become something else."""


class ConsoleContext(WorkerRuntime, Protocol):
    """What a console needs, besides `Admin`."""

    @property
    def consoles(self) -> set[ClosableConnection]:
        """Those that are open."""

    @property
    def keys(self) -> CancelKeys:
        """Where its cancel key is known."""


class ClientContext(PendingClientContext, ConsoleContext, SessionContext, Protocol):
    """What decides where a client goes, and what it needs there."""

    @property
    def access(self) -> Access:
        """Who may come in, and how."""

    @property
    def sessions(self) -> SessionRegistry:
        """Those that are open, and databases that are closed to new ones."""

    def next_id(self) -> int:
        """An id that no other session of any worker has."""

    def refusal(self, database: str) -> ErrorReply | None:
        """Why no new session of `database` can begin."""

    def binding(self, secured: object | None) -> bytes | None:
        """What a client with this TLS connection can bind its SCRAM proof to."""

    def client_identified(self, connection: SessionView, client_report: ClientReport) -> None:
        """Who the client of `connection` is."""


class Admin(Protocol):
    """What the console's commands need: this worker and its siblings."""

    async def handle(self, request: WorkerRequest) -> WorkerAnswer:
        """Asks this worker alone."""

    async def ask_all(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Asks all workers."""

    def snapshot(self, reports: tuple[WorkerReport, ...]) -> ConsoleSnapshot:
        """What the console's tables are made of."""

    async def engine_rows(self, view: str) -> tuple[tuple[Value, ...], ...]:
        """The rows of a view that the engine knows.

        Raises:
            NLError: The engine does not answer.
        """

    async def shut_all_down(self, how: ShutdownMode) -> None:
        """Ends all workers."""
