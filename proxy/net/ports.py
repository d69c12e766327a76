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
from proxy.console.reports import Visitor, WorkerReport
from proxy.console.tables import Value
from proxy.console.views import Here
from proxy.metrics import GatewayMetrics
from proxy.net.access import Access
from proxy.net.cancel_keys import CancelKeys
from proxy.net.login_service import Logins
from proxy.net.session.consultation import ConsultationContext
from proxy.net.session.session_registry import Sessions, SessionView
from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.prewarmed import Spares
from proxy.net.worker.worker_ipc import Answer, Request
from proxy.protocol.inspection import SessionLimits
from proxy.settings import GatewaySettings

if TYPE_CHECKING:
    from proxy.net._pump import Pump


class Shutdown(StrEnum):
    """How a worker ends."""

    NOW = ""
    WAIT_FOR_CLIENTS = "wait_for_clients"
    WAIT_FOR_SERVERS = "wait_for_servers"


class Guest(Protocol):
    """A connection that is no session: on its way in, or the console's."""

    def shut_down(self) -> None:
        """Ends it."""


class Runtime(Protocol):
    """What every connection needs."""

    @property
    def settings(self) -> GatewaySettings:
        """Those in force."""

    @property
    def log(self) -> structlog.typing.FilteringBoundLogger:
        """The worker's log."""

    def spawn(self, name: str, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs `work` as a task that ends with the worker at the latest."""


class DialContext(Runtime, Protocol):
    """What it takes to reach the server."""

    @property
    def dialer(self) -> Dialer:
        """The way to the server."""

    @property
    def spares(self) -> Spares:
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

    def opened(self, link: SessionView) -> None:
        """A session begins."""

    def closed(self, link: SessionView, key: bytes | None) -> None:
        """A session has ended; `key` cancelled what it did."""


class GuestContext(Runtime, Protocol):
    """What a client needs on its way in."""

    @property
    def logins(self) -> Logins:
        """Places, secrets and rules of logins."""

    @property
    def dialer(self) -> Dialer:
        """The way to the server."""

    def entered(self, guest: Guest) -> None:
        """A client has connected; it is no session yet."""

    def left(self, guest: Guest) -> None:
        """It has gone, or become something else."""


class ConsoleContext(Runtime, Protocol):
    """What a console needs, besides `Admin`."""

    @property
    def consoles(self) -> set[Guest]:
        """Those that are open."""

    @property
    def keys(self) -> CancelKeys:
        """Where its cancel key is known."""


class ClientContext(GuestContext, ConsoleContext, SessionContext, Protocol):
    """What decides where a client goes, and what it needs there."""

    @property
    def access(self) -> Access:
        """Who may come in, and how."""

    @property
    def sessions(self) -> Sessions:
        """Those that are open, and databases that are closed to new ones."""

    def next_id(self) -> int:
        """An id that no other session of any worker has."""

    def refusal(self, database: str) -> ErrorReply | None:
        """Why no new session of `database` can begin."""

    def binding(self, secured: object | None) -> bytes | None:
        """What a client with this TLS connection can bind its SCRAM proof to."""

    def introduced(self, link: SessionView, visitor: Visitor) -> None:
        """Who the client of `link` is."""


class Admin(Protocol):
    """What the console's commands need: this worker and its siblings."""

    async def handle(self, request: Request) -> Answer:
        """Asks this worker alone."""

    async def everyone(self, request: Request) -> list[Answer]:
        """Asks all workers."""

    def here(self, reports: tuple[WorkerReport, ...]) -> Here:
        """What the console's tables are made of."""

    async def engine_rows(self, view: str) -> tuple[tuple[Value, ...], ...]:
        """The rows of a view that the engine knows.

        Raises:
            NLError: The engine does not answer.
        """

    async def shut_all_down(self, how: Shutdown) -> None:
        """Ends all workers."""
