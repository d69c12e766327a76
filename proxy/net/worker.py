"""One gateway worker: what its sessions share, and how it starts, reloads and ends.

Owns the tasks, the key registry, and the answers to its siblings. Does not know the protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import structlog

from engine.client import EngineAddress, EngineClient
from engine.errors import InternalError, NLError
from engine.types import ErrorReply, SessionLoan
from proxy.console.reports import Visitor, WorkerReport
from proxy.console.tables import Value
from proxy.console.views import Here
from proxy.metrics import GatewayMetrics
from proxy.net import access, duties, listen, pump
from proxy.net.consultation import Consultation
from proxy.net.control import Answer, Control, Request
from proxy.net.gate import Gate
from proxy.net.link import Link
from proxy.net.loans import Loans
from proxy.net.logins import Logins
from proxy.net.sessions import Sessions
from proxy.net.spares import Spares
from proxy.net.upstream import Dialer
from proxy.protocol.commands import EngineReply, EngineRequest
from proxy.protocol.inspection import SessionLimits
from proxy.protocol.messages import CancelRequest
from proxy.settings import GatewaySettings, assigned, changes, described

if TYPE_CHECKING:
    from proxy.net._pump import Pump

VERSION = "pgparley 0.1.0"
_LOOK_AGAIN = 0.05
"""Seconds between two looks at whether sessions are at rest."""

_LAST_WORDS = 1.0
"""Seconds for what was written last to reach its reader."""

_GUESTS = 5.0
"""Seconds that clients who had connected before the end began get to log in."""

_MOST_STRANGERS = 16
"""Cancel requests carried out at once whose key is none of this worker's: anybody can send them."""

_IDS = 10_000_000
"""Session ids that one process gives out before they repeat."""


_TLS_HINT = (
    "Passwords, questions and rows can be read on the way. Set client_tls_sslmode = require with client_tls_cert_file"
    " and client_tls_key_file, or listen_addr = 127.0.0.1."
)


class Shutdown:
    """How a worker ends."""

    NOW = ""
    WAIT_FOR_CLIENTS = "wait_for_clients"
    WAIT_FOR_SERVERS = "wait_for_servers"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker stands. `sockets`: descriptors to listen on, else it binds its own.

    `supervisor`: the process that decides about the end of all workers, None where the worker is alone.
    """

    sockets: tuple[int, ...] = ()
    supervisor: int | None = None


ALONE = Place()
"""A worker that binds its own sockets and answers to nobody."""


class Cancellable(Protocol):
    """Something that has a cancel key."""

    def cancel_requested(self) -> bool:
        """Cancels what is under way. Returns whether the server has to be told."""


class Guest(Protocol):
    """A connection that is no session: on its way in, or the console's."""

    def shut_down(self) -> None:
        """Ends it."""


class Worker:
    """Serves clients on one event loop from `start` to `stop`."""

    def __init__(
        self,
        settings: GatewaySettings,
        place: Place = ALONE,
        reread: Callable[[], GatewaySettings] | None = None,
    ) -> None:
        """`reread`: gives the settings anew, for RELOAD; raises ValueError or OSError where they are bad."""
        self.settings = settings
        self.limits = SessionLimits(question_chars=settings.max_question_chars)
        self.metrics = GatewayMetrics()
        self.access = access.load(settings)
        self.dialer = Dialer(settings, self.access.server_tls)
        self.engine = EngineClient(EngineAddress(settings.engine))
        self.log: structlog.typing.FilteringBoundLogger = structlog.get_logger("proxy")
        self.logins = Logins(settings, self.access, self.dialer, self.spawn, self.log)
        self.pump: Pump | None = None
        """Relays what passes by itself, where it was built."""
        self.sessions = Sessions()
        self.guests: set[Guest] = set()
        self.consoles: set[Guest] = set()
        self.ended = asyncio.Event()
        """Set when the worker wants to be stopped."""
        self._place = place
        self._reread = reread
        self.started = time.time()
        """When, in seconds since the epoch."""
        self._gate: Gate | None = None
        self._control: Control | None = None
        self._keys: dict[bytes, Cancellable] = {}
        self._strangers = asyncio.Semaphore(_MOST_STRANGERS)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ids = 0
        self._shutdown: str | None = None
        self._loans = Loans(settings.runtime_dir, settings.lend_addr)
        self.spares = self._spares()
        """Sockets to the server that wait for their clients."""

    # -- life

    async def start(self) -> None:
        """Listens.

        Raises:
            OSError: The address cannot be bound, or the runtime directory cannot be used.
        """
        settings = self.settings
        self.pump = pump.start()
        if settings.runtime_dir:
            name = f"gateway-{os.getpid()}.sock"
            self._control = Control(Path(settings.runtime_dir), name, self.handle)
            await self._control.open()
        await self._loans.open()
        self._gate = Gate(self, self._listening())
        await self._gate.open()
        relay = "python" if self.pump is None else "compiled"
        self.log.info(
            "listening", addresses=settings.listen_addr, port=self.port, pid=os.getpid(), relay=relay
        )
        self._warn()

    def _warn(self) -> None:
        """Says what the operator may not have meant."""
        for file in access.readable_by_others(self.settings):
            self.log.warning("secrets_readable_by_others", file=file, hint="chmod 600")
        exposed = () if self._gate is None else self._gate.exposed
        if exposed and self.access.client_tls is None:
            self.log.warning("clients_without_tls", addresses=exposed, hint=_TLS_HINT)

    def _listening(self) -> list[socket.socket]:
        if self._place.sockets:
            return [socket.socket(fileno=descriptor) for descriptor in self._place.sockets]
        sockets = listen.bind(self.settings)
        if self.settings.unix_socket_dir:
            port = sockets[0].getsockname()[1] if sockets else self.settings.listen_port
            sockets.append(listen.bind_unix(self.settings, port))
        return sockets

    @property
    def port(self) -> int:
        """The TCP port that the worker listens on."""
        if self._gate is None:
            raise RuntimeError("the worker is not started")
        return self._gate.port

    async def stop(self) -> None:
        """Stops listening, lets sessions end for `shutdown_grace` seconds, then ends them."""
        if self._gate is not None:
            self._gate.close()
        self.spares.close()
        try:
            async with asyncio.timeout(0 if self._shutdown is not None else self.settings.shutdown_grace):
                await self.sessions.empty.wait()
        except TimeoutError:
            for link in tuple(self.sessions.links):
                link.shut_down()
        for guest in (*self.guests, *self.consoles):
            guest.shut_down()
        await self._quiet()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.logins.close()
        await self.engine.close()
        pump.stop(self.pump)
        await self._loans.close()
        if self._control is not None:
            await self._control.close()
        self.log.info("stopped")

    async def _quiet(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                while not (self.sessions.quiet and self.spares.quiet):  # noqa: ASYNC110 - transports close by themselves
                    await asyncio.sleep(_LOOK_AGAIN / 10)

    def shut_down(self, how: str) -> None:
        """Begins to end, as SHUTDOWN does; a second time, or `NOW`, ends at once."""
        self.log.info("shutting_down", how=how or "now", sessions=len(self.sessions.links))
        again, self._shutdown = self._shutdown is not None, how
        if self._gate is not None:
            self._gate.close()
        self.spares.close()
        if how == Shutdown.NOW or again:
            self.ended.set()
        else:
            self.spawn("drain", self._drain(how))

    async def _drain(self, how: str) -> None:
        """Waits for the last session; `WAIT_FOR_SERVERS` ends each as soon as it is at rest.

        Who had connected already comes in where clients are waited for: a rolling restart refuses nobody.
        """
        until = time.monotonic() + (_GUESTS if how == Shutdown.WAIT_FOR_CLIENTS else 0)
        while self.sessions.links or (self.guests and time.monotonic() < until):
            if how == Shutdown.WAIT_FOR_SERVERS:
                for link in tuple(self.sessions.links):
                    if link.session.at_rest:
                        link.shut_down()
            await asyncio.sleep(_LOOK_AGAIN)
        self.ended.set()

    async def shut_all_down(self, how: str) -> None:
        """SHUTDOWN on the console: the supervisor's matter, where there is one."""
        if self._place.supervisor is not None:
            os.kill(self._place.supervisor, _SIGNALS[how])
        else:
            await self.everyone(Request("shutdown", how))

    def reload(self) -> str | None:
        """Reads the settings and their files anew. Returns why that failed; everything is then as before."""
        try:
            settings = self.settings if self._reread is None else self._reread()
            fixed = changes(self.settings, settings)
            self._apply(settings)
        except (ValueError, OSError, access.AccessError) as problem:
            self.log.warning("reload_failed", error=str(problem))
            return f"RELOAD failed: {problem}"
        for key in fixed:
            self.log.warning("setting_needs_restart", key=key)
        self.log.info("reloaded")
        self._warn()
        return None

    def assign(self, key: str, value: str) -> str | None:
        """Changes one setting until the next `reload`. Returns why that failed."""
        try:
            self._apply(assigned(self.settings, key, value))
        except (ValueError, OSError, access.AccessError) as problem:
            return str(problem)
        return None

    def _apply(self, settings: GatewaySettings) -> None:
        """Goes over to `settings`, or raises what `reload` reports and changes nothing."""
        loaded = access.load(settings)
        if (loaded.client_tls is None) is not (self.access.client_tls is None):
            raise ValueError("client_tls_sslmode: turning TLS on or off needs a restart")
        elsewhere = Dialer.place(settings) != Dialer.place(self.settings)
        self.settings, self.access = settings, loaded
        self.limits = SessionLimits(question_chars=settings.max_question_chars)
        self.dialer = Dialer(settings, loaded.server_tls)
        self.logins.configure(settings, loaded, self.dialer)
        self.spares.close()
        self.spares = self._spares()
        if elsewhere:
            self.sessions.outdate("")

    def _spares(self) -> Spares:
        settings = self.settings
        return Spares(
            self.dialer,
            self.spawn,
            self.metrics,
            most=settings.dial_ahead,
            lifetime=settings.dial_ahead_lifetime,
        )

    def pause(self, database: str) -> bool:
        """New sessions wait from now on. Returns whether they did not before."""
        if not database:
            self.spares.rest()
            self.logins.rest()
        return self.sessions.pause(database)

    def reconnect(self, database: str) -> None:
        """What is dialled from now on is new, and what sessions hold is to be closed as they end."""
        self.spares.renew()
        self.logins.rest()
        self.sessions.outdate(database)

    # -- tasks

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

    # -- clients on their way in

    def entered(self, guest: Guest) -> None:
        """A client has connected; it is no session yet."""
        self.guests.add(guest)

    def left(self, guest: Guest) -> None:
        """It has gone, or become something else."""
        self.guests.discard(guest)

    def next_id(self) -> int:
        """An id that no other session of any worker has."""
        self._ids = self._ids % (_IDS - 1) + 1
        return os.getpid() * _IDS + self._ids

    @property
    def shutting_down(self) -> bool:
        """Whether nobody is let in any more."""
        return self._shutdown is not None

    def refusal(self, database: str) -> ErrorReply | None:
        """Why no new session of `database` can begin."""
        if self._shutdown not in (None, Shutdown.WAIT_FOR_CLIENTS):
            return ErrorReply("57P01", "the gateway is shutting down")
        if database in self.sessions.disabled:
            return ErrorReply("57P03", f'database "{database}" is disabled')
        if len(self.sessions.links) >= self.settings.max_client_conn:
            return ErrorReply("53300", "no more connections allowed (max_client_conn)")
        return None

    def binding(self, secured: object | None) -> bytes | None:
        """What a client with this TLS connection can bind its SCRAM proof to."""
        return None if secured is None else self.access.binding

    # -- sessions

    def opened(self, link: Link) -> None:
        """A session begins."""
        self.sessions.add(link)
        self.metrics.sessions.inc()
        self.metrics.sessions_total.inc()

    def closed(self, link: Link, key: bytes | None) -> None:
        """A session has ended."""
        self.sessions.remove(link)
        if key is not None:
            self.key_gone(key)
        self.metrics.sessions.dec()

    def introduced(self, link: Link, visitor: Visitor) -> None:
        """Who the client of `link` is."""
        self.sessions.introduce(link, visitor)

    # -- cancelling

    def key_known(self, key: bytes, owner: Cancellable) -> None:
        """`key` cancels what `owner` does."""
        self._keys[key] = owner

    def key_gone(self, key: bytes) -> None:
        """`key` cancels nothing any more."""
        self._keys.pop(key, None)

    async def cancel(self, request: CancelRequest) -> None:
        """Carries out a cancel request: at the worker that has the session, and at the server where it must know.

        Raises:
            OSError: The server cannot be reached.
        """
        owner = self._keys.get(request.key)
        if owner is None:
            async with self._strangers:
                answers = await self._others(Request("cancel", request.key.hex()))
                if not any(answer.done for answer in answers):
                    await self.dialer.send_once(request.packet)
        elif owner.cancel_requested():
            await self.dialer.send_once(request.packet)

    def cancel_for_sibling(self, key: bytes) -> bool:
        """Returns whether the session is ours and the server need not be told."""
        owner = self._keys.get(key)
        return owner is not None and not owner.cancel_requested()

    # -- siblings and the console

    async def everyone(self, request: Request) -> list[Answer]:
        """Asks all workers."""
        return [await self.handle(request), *await self._others(request)]

    async def _others(self, request: Request) -> list[Answer]:
        return [] if self._control is None else await self._control.others(request)

    async def handle(self, request: Request) -> Answer:
        """What a sibling, or our own console, asks of this worker."""
        return duties.perform(self, request)

    def here(self, reports: tuple[WorkerReport, ...]) -> Here:
        """What the console's tables are made of."""
        settings = self.settings
        return Here(
            version=VERSION,
            upstream_host=settings.upstream_host,
            upstream_port=settings.upstream_port,
            max_client_conn=settings.max_client_conn,
            config=described(settings),
            reports=reports,
        )

    async def engine_rows(self, view: str) -> tuple[tuple[Value, ...], ...]:
        """The rows of a view that the engine knows. Raises NLError where it does not answer."""
        table = await self.engine.view(view, timeout=self.settings.server_connect_timeout)
        return table.rows

    # -- the engine

    def offer(self, consultation: Consultation) -> SessionLoan | None:
        """Where the engine can borrow the server of the consultation's session; None where nothing is lent."""
        return self._loans.offer(consultation)

    def withdraw(self, loan: SessionLoan) -> None:
        """Ends an offer."""
        self._loans.withdraw(loan)

    async def consult(self, request: EngineRequest) -> EngineReply:
        """The engine's reply; every failure comes as an ErrorReply."""
        try:
            return await self.engine.consult(request, timeout=self.settings.nl_timeout)
        except NLError as error:
            return error.reply()
        except Exception:
            self.log.exception("consult_failed")
            return InternalError("the gateway failed to ask the engine").reply()


_SIGNALS = {
    Shutdown.NOW: signal.SIGQUIT,
    Shutdown.WAIT_FOR_CLIENTS: signal.SIGTERM,
    Shutdown.WAIT_FOR_SERVERS: signal.SIGINT,
}
