"""`pgparley serve`: the gateway's workers, engine, embedded model and the DBA's page, each a process of its own.

Owns them and the listening sockets: a worker that dies or is replaced takes no waiting client with it. Workers start
first and wait for nobody: without an engine they still relay plain SQL.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog

from engine.values.messages import ErrorReply
from engine.values.model_settings import NO_KEY, EmbeddedModelSettings, GrammarSupport
from engine.values.python_process import python_command
from pgparley.config import PREFIX, Config, ConfigError, load
from pgparley.metrics import MetricsPage
from pgparley.processes import PartKind
from proxy.net.client import sockets
from proxy.net.worker import worker_ipc
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerChannel, WorkerRequest, ask_worker
from proxy.protocol import codec

log = structlog.stdlib.get_logger("serve")

STEADY = 30.0
"""Seconds after which a process counts as having started well."""

FIRST_PAUSE = 0.5
"""Seconds before a process that ended is started again; they double each time that it ends soon."""

LONGEST_PAUSE = 15.0

STOP_TIMEOUT = 20.0
"""Seconds that a process gets to end by itself once it has been told to end at once."""

READY_TIMEOUT = 30.0
"""Seconds that a new worker gets to listen, in a rolling restart."""

SUPERVISOR = "supervisor.sock"
"""The supervisor's socket in the runtime directory."""

_NOT_SERVED = ErrorReply(
    "57P03",
    "the gateway cannot start its worker",
    hint="The operator finds the reason in the gateway's log; the next try follows within 15 seconds.",
)


class PartFailedError(Exception):
    """A part ended as `pgparley serve` started, and would end each time."""


@dataclass(frozen=True, slots=True)
class Part:
    """One process: which of `pgparley.processes` it is, what its environment adds, what it listens on."""

    name: str
    kind: PartKind
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    sockets: tuple[int, ...] = ()


@dataclass(slots=True)
class _Slot:
    """A part, and the process that plays it now; one that was replaced only finishes what it has begun."""

    part: Part
    process: asyncio.subprocess.Process | None = None
    pause: float = FIRST_PAUSE
    began: bool = False
    """Whether a process of it has ended before: it could be started, and may be again."""
    refusing: bool = False
    """Whether its clients are refused meanwhile: it ended again and again."""


def parts(config: Config) -> list[Part]:
    """The processes of `config`; without a model server an embedded one, with a new key. Raises `ConfigError`."""
    model: dict[str, str] = {}
    found: list[Part] = []
    if config.model.base_url is None:
        port = config.embedded_model.port or _free_port(config.embedded_model)
        own = config.model_with_keys().api_key
        key = {f"{PREFIX}MODEL_API_KEY": secrets.token_hex(32) if own == NO_KEY else own}
        model = {
            **key,
            f"{PREFIX}MODEL_BASE_URL": f"http://{config.embedded_model.host}:{port}/v1",
            f"{PREFIX}MODEL_GRAMMAR": GrammarSupport.EMBEDDED,
        }
        found.append(Part("model", PartKind.MODEL, {**key, f"{PREFIX}EMBEDDED_MODEL_PORT": str(port)}))
    if config.page.listen:
        found.append(Part("page", PartKind.PAGE))
    return [*workers(config), *found, Part("engine", PartKind.ENGINE, model)]


def workers(config: Config) -> list[Part]:
    """The gateway's processes of `config`."""
    return [Part(f"gateway-{i}", PartKind.GATEWAY) for i in range(1, config.workers + 1)]


async def serve(config: Config, file: Path | None, found: list[Part]) -> None:
    """Runs `found` until a signal ends it, as PgBouncer's (docs/operations.md).

    Raises `OSError`, and `PartFailedError`.
    """
    await Supervisor(config, file, found).run()


async def restart(config: Config) -> str | None:
    """Has the running supervisor replace its workers one by one. Returns why that failed. Raises `OSError`."""
    path = Path(config.gateway.runtime_dir) / SUPERVISOR
    seconds = (config.workers + 1) * READY_TIMEOUT
    return (await ask_worker(path, WorkerRequest("restart"), seconds)).error


class Supervisor:
    """Everything that one `pgparley serve` runs."""

    def __init__(self, config: Config, file: Path | None, found: list[Part]) -> None:
        self._config = config
        self._file = file
        self._parts = found
        self._slots: list[_Slot] = []
        self._sockets: list[socket.socket] = []
        self._replaced: set[asyncio.subprocess.Process] = set()
        self._watching: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._failed: str | None = None
        self._refusing = sockets.Refusing(codec.encode_fatal(_NOT_SERVED))
        self._stopping: signal.Signals | None = None
        self._restarting = asyncio.Lock()
        self._runtime = Path(config.gateway.runtime_dir)
        self._control = WorkerChannel(self._runtime, SUPERVISOR, self._handle)
        self._page = MetricsPage(config.gateway, self._control)

    async def run(self) -> None:
        """Starts everything; returns when everything has ended."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            asyncio.get_running_loop().add_signal_handler(number, self._forward, number)
        await self._control.open()
        await self._page.open()
        try:
            worker_ipc.forget_killed(self._runtime)
            self._slots = [_Slot(part) for part in self._bound(self._parts)]
            for slot in self._slots:
                await self._start(slot)
            await self._first_workers([slot.process for slot in self._workers])
            await self._ended.wait()
            if self._failed is not None:
                raise PartFailedError(self._failed)
        finally:
            self._refusing.only(())
            await self._page.close()
            await self._control.close()
            await self._end_rest()
            for one in self._sockets:
                one.close()

    async def _first_workers(self, processes: list[asyncio.subprocess.Process | None]) -> None:
        """Waits until they listen. Raises `PartFailedError`: what ends one as it starts would end the next, too.

        One that a signal ended is started again, as any.
        """
        for process in processes:
            if process is not None and not await self._listens(process) and self._stopping is None:
                if process.returncode is None:
                    log.warning("worker_slow", pid=process.pid, seconds=READY_TIMEOUT)
                elif process.returncode > 0:
                    raise PartFailedError(f"a worker ended with code {process.returncode} as it started")

    def _bound(self, found: list[Part]) -> list[Part]:
        """Gives each worker sockets of its own on one port, and all of them the Unix socket; holds the model's port."""
        settings = replace(self._config.gateway, reuse_port=self._config.workers > 1)
        shared: tuple[int, ...] = ()
        done: list[Part] = []
        for part in found:
            if part.kind is PartKind.MODEL:
                self._hold(part)
            if part.kind is not PartKind.GATEWAY:
                done.append(part)
                continue
            own = sockets.bind(settings)
            self._sockets += own
            if own:
                settings = replace(settings, listen_port=own[0].getsockname()[1])
            if settings.unix_socket_dir and not shared:
                local = sockets.bind_unix(settings, settings.listen_port)
                self._sockets.append(local)
                shared = (local.fileno(),)
            done.append(replace(part, sockets=(*(one.fileno() for one in own), *shared)))
        return done

    def _hold(self, model: Part) -> None:
        """Takes the model's port: no other user of this machine can while it starts (SO_REUSEPORT in socket(7))."""
        held = socket.socket()
        self._sockets.append(held)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((self._config.embedded_model.host, int(model.environment[f"{PREFIX}EMBEDDED_MODEL_PORT"])))

    # -- processes

    async def _start(self, slot: _Slot) -> None:
        self._take_over(slot, await self._spawn(slot.part))

    async def _spawn(self, part: Part) -> asyncio.subprocess.Process:
        arguments: list[str] = [part.kind]
        if self._file is not None:
            arguments.append(str(self._file))
        arguments += ["--supervisor", str(os.getpid())]
        if part.sockets:
            arguments += ["--sockets", ",".join(map(str, part.sockets))]
        return await asyncio.create_subprocess_exec(
            *python_command("pgparley.processes", *arguments),
            env={**os.environ, **part.environment},
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=part.sockets,
            # A group of its own, so that Ctrl-C in a terminal reaches only the supervisor, which stops all in order.
            start_new_session=True,
        )

    def _take_over(self, slot: _Slot, process: asyncio.subprocess.Process) -> None:
        """From now on `process` plays the part."""
        slot.process = process
        watching = asyncio.create_task(self._watch(slot, process), name=f"{slot.part.name}-{process.pid}")
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)

    async def _watch(self, slot: _Slot, process: asyncio.subprocess.Process) -> None:
        """Waits for the end of a process, and starts it again where that was none of our doing."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        code = await process.wait()
        worker_ipc.forget_killed(self._runtime, process.pid)
        if slot.process is not process:
            self._replaced.discard(process)
            log.info("replaced process ended", part=slot.part.name, pid=process.pid)
            return
        slot.process = None
        if self._stopping is not None:
            return
        if code == os.EX_CONFIG and not slot.began:
            self._failed = f"the {slot.part.name} cannot be started with these settings"
            self._stop(signal.SIGQUIT)
            return
        slot.began = True
        steady = loop.time() - began > STEADY
        slot.pause = FIRST_PAUSE if steady else min(2 * slot.pause, LONGEST_PAUSE)
        log.error("process ended, starting it again", part=slot.part.name, exit_code=code, seconds=slot.pause)
        # One that ended once takes no client with it; where it ends again, clients would wait for ever.
        slot.refusing = slot.pause > 2 * FIRST_PAUSE
        self._refuse()
        await asyncio.sleep(slot.pause)
        slot.refusing = False
        self._refuse()
        if self._stopping is None:
            await self._start(slot)

    def _refuse(self) -> None:
        """Refuses those whom no worker will accept soon: the workers share the Unix socket."""
        awaited = {one for each in self._workers if not each.refusing for one in each.part.sockets}
        self._refusing.only(
            []
            if self._stopping
            else [one for one in self._sockets if self._is_gateways(one) and one.fileno() not in awaited]
        )

    def _is_gateways(self, one: socket.socket) -> bool:
        return any(one.fileno() in slot.part.sockets for slot in self._workers)

    @property
    def _workers(self) -> list[_Slot]:
        return [slot for slot in self._slots if slot.part.kind is PartKind.GATEWAY]

    # -- ends

    def _stop(self, number: signal.Signals) -> None:
        """Workers first, so that nobody asks a dead engine. A second signal ends them at once."""
        first, self._stopping = self._stopping is None, number
        if number is signal.SIGQUIT or not first:
            number = signal.SIGQUIT
        log.info("stopping", signal=number.name)
        self._refuse()
        for one in self._sockets:
            # Closing is not enough: the workers hold the same sockets, and a client would wait in a queue for ever.
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for process in (*self._processes(PartKind.GATEWAY), *self._replaced):
            # To a worker that was replaced, and finishes its sessions, a first signal is the second.
            if process not in self._replaced or number is signal.SIGQUIT:
                process.send_signal(number)
        if first:
            task = asyncio.create_task(self._await_workers(), name="stop")
            self._watching.add(task)
            task.add_done_callback(self._watching.discard)

    async def _await_workers(self) -> None:
        # Before whoever told us to stop kills us: clients of a killed worker are told nothing.
        if seconds := self._config.gateway.shutdown_grace:
            asyncio.get_running_loop().call_later(seconds, self._stop, signal.SIGQUIT)
        # The watchers of the workers end with them; this task is among the others.
        while self._replaced or any(slot.process is not None for slot in self._workers):  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.05)
        self._ended.set()

    def _processes(self, kind: PartKind) -> list[asyncio.subprocess.Process]:
        return [
            slot.process
            for slot in self._slots
            if slot.part.kind is kind and slot.process is not None and slot.process.returncode is None
        ]

    async def _end_rest(self) -> None:
        self._stopping = self._stopping or signal.SIGTERM
        rest = [process for kind in PartKind for process in self._processes(kind)]
        rest += self._replaced
        for process in rest:
            process.terminate()
        await asyncio.gather(*(_ended(process) for process in rest))
        for task in tuple(self._watching):
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)

    # -- signals and requests

    def _forward(self, number: signal.Signals) -> None:
        if number is signal.SIGHUP:
            try:
                load(self._file)
            except ConfigError as problem:
                log.error("reload failed", error=str(problem))  # noqa: TRY400 - the message says all
                return
        for process in self._processes(PartKind.GATEWAY):
            process.send_signal(number)

    async def _handle(self, request: WorkerRequest) -> WorkerAnswer:
        if request.verb == "ping":
            return WorkerAnswer(done=True)
        if request.verb != "restart":
            return WorkerAnswer(error=f"unknown request {request.verb}")
        async with self._restarting:
            for slot in self._workers:
                problem = await self._replace(slot)
                if problem is not None:
                    return WorkerAnswer(error=problem)
        return WorkerAnswer(done=True)

    async def _replace(self, slot: _Slot) -> str | None:
        """Starts a new worker on the same sockets; when it listens, the old one finishes its sessions."""
        if self._stopping is not None:
            return "the gateway is shutting down"
        new = await self._spawn(slot.part)
        if not await self._listens(new):
            if new.returncode is None:
                new.kill()
            await new.wait()
            return f"the new {slot.part.name} does not start; see the log. The old one goes on"
        old = slot.process
        self._take_over(slot, new)
        log.info("worker replaced", part=slot.part.name, pid=new.pid)
        if old is not None and old.returncode is None:
            self._replaced.add(old)
            old.terminate()
        return None

    async def _listens(self, process: asyncio.subprocess.Process) -> bool:
        path = worker_ipc.worker_path(self._runtime, process.pid)
        try:
            async with asyncio.timeout(READY_TIMEOUT):
                while process.returncode is None:
                    try:
                        return (await ask_worker(path, WorkerRequest("ping"))).done
                    except OSError:
                        await asyncio.sleep(0.05)
        except TimeoutError:
            pass
        return False


async def _ended(process: asyncio.subprocess.Process) -> None:
    try:
        await asyncio.wait_for(process.wait(), STOP_TIMEOUT)
    except TimeoutError:
        process.kill()
        await process.wait()


def _free_port(settings: EmbeddedModelSettings) -> int:
    with socket.socket() as probe:
        probe.bind((settings.host, 0))
        return int(probe.getsockname()[1])
