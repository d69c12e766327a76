"""The worker as its connections see it: one small Protocol for each kind of connection.

The worker's context satisfies those for connections, the worker itself `Admin`. Neither is imported here.
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
from proxy.net.audit_log import AuditTrail
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
    """A connection that is no session: a client that is logging in, or a console."""

    def shut_down(self) -> None:
        """Ends it."""


class WorkerRuntime(Protocol):
    """The part that every connection needs."""

    @property
    def settings(self) -> GatewaySettings:
        """Those in force."""

    @property
    def log(self) -> structlog.typing.FilteringBoundLogger:
        """The worker's log."""

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs `work` as a task that ends with the worker at the latest."""


class DialContext(WorkerRuntime, Protocol):
    """The part that a connection to the server needs."""

    @property
    def dialer(self) -> Dialer:
        """Opens connections to the server."""

    @property
    def prewarm_pool(self) -> PrewarmPool:
        """Sockets to the server that are connected already."""

    @property
    def metrics(self) -> GatewayMetrics:
        """The worker's counts."""


class SessionContext(DialContext, ConsultationContext, Protocol):
    """The part that a session needs."""

    @property
    def limits(self) -> SessionLimits:
        """The limits of a client's questions."""

    @property
    def pump(self) -> Pump | None:
        """The compiled relay; None where it was not built."""

    @property
    def keys(self) -> CancelKeys:
        """Where its cancel key is known."""

    def trail(self, connection: SessionView) -> AuditTrail | None:
        """The session's lines in the audit log; None where there is none."""

    def statement_failed(self, connection: SessionView, error: ErrorReply) -> None:
        """The session's client gets an error for an NL statement."""

    def opened(self, connection: SessionView) -> None:
        """A session begins."""

    def closed(self, connection: SessionView, key: bytes | None) -> None:
        """A session has ended; `key` was its cancel key, None where it had none."""


class PendingClientContext(WorkerRuntime, Protocol):
    """The part that a client needs until it is logged in."""

    @property
    def login_service(self) -> LoginService:
        """Admission, secrets and rules of logins."""

    @property
    def dialer(self) -> Dialer:
        """Opens connections to the server."""

    def client_connected(self, client: ClosableConnection) -> None:
        """A client has connected; it is no session yet."""

    def client_left(self, client: ClosableConnection) -> None:
        """It has gone, or has become a session or a console."""


class ConsoleContext(WorkerRuntime, Protocol):
    """The part that a console needs, besides `Admin`."""

    @property
    def consoles(self) -> set[ClosableConnection]:
        """Those that are open."""

    @property
    def keys(self) -> CancelKeys:
        """Where its cancel key is known."""


class ClientContext(PendingClientContext, ConsoleContext, SessionContext, Protocol):
    """The part that routes a client to a session or to the console."""

    @property
    def access(self) -> Access:
        """The access rules."""

    @property
    def sessions(self) -> SessionRegistry:
        """Those that are open, and databases that are closed to new ones."""

    def next_id(self) -> int:
        """An id that no other session of any worker has."""

    def refusal(self, database: str) -> ErrorReply | None:
        """Why no new session of `database` can begin."""

    def binding(self, secured: object | None) -> bytes | None:
        """The channel binding data for a client with this TLS connection; None without TLS."""

    def client_identified(self, connection: SessionView, client_report: ClientReport) -> None:
        """Sets the client that the console shows for `connection`."""


class Admin(Protocol):
    """This worker and its siblings, for the console's commands."""

    async def handle(self, request: WorkerRequest) -> WorkerAnswer:
        """Carries out `request` in this worker alone."""

    async def ask_all(self, request: WorkerRequest) -> list[WorkerAnswer]:
        """Sends `request` to all workers and returns their answers, this one's first."""

    def snapshot(self, reports: tuple[WorkerReport, ...]) -> ConsoleSnapshot:
        """The values that the console's tables are built from."""

    async def engine_rows(self, view: str) -> tuple[tuple[Value, ...], ...]:
        """The rows of a view that the engine provides.

        Raises:
            NLError: The engine does not answer.
        """

    async def shut_all_down(self, how: ShutdownMode) -> None:
        """Ends all workers."""
